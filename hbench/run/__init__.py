"""From a plan to scores: requests, journal, predictions, results."""
