"""What reports share: page, drawings, signature and command."""
