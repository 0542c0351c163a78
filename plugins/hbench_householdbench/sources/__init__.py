"""Raw files of the households' data and of the economy, and the tables that they become."""
