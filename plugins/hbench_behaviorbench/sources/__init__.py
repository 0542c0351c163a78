"""Raw files to panels."""
