"""The only code that enters the sandbox: supervisor, loader, session and wire format."""
