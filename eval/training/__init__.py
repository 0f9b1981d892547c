"""Training of recognisers: settings, loss, loop, adaptation, export, augmentation."""
