"""Task files that try to do what data cannot."""
