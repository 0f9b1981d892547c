"""Parts that reports share: templates, drawings, signature and command."""
