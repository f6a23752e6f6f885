"""Homes for users of other limiters: their API, brim's engine."""
