//! Limits, of which the interface document shows none: subject, limit, reason.

pub const LIMITS: &[[&str; 3]] = &[
    [
        "connections",
        "256; a further one replaces the client that has kept the service waiting longest. 10 s until the first \
         byte and for a head, 75 s between requests, 30 s for the next part of a body or of a response, and \
         1 KiB/s on average",
        "idle and slow clients must not keep others out",
    ],
    [
        "expensive requests",
        "4 at a time (searches, query images, selections); 503 after 30 s of waiting",
        "light reads stay fast",
    ],
    ["query image", "32 MiB; its `bounding_box` 4 KiB", "it is decoded in memory"],
    ["selection", "32 MiB, 10000 items", "memory stays within four times the body"],
    [
        "upload",
        "50 GiB, limited by free disk space; 256 MiB per file, 4 GiB per video",
        "one file must not fill the disk",
    ],
    [
        "exports",
        "32 waiting or running, 429 beyond; 503 without free disk space",
        "each takes as much space as its images",
    ],
    [
        "disk",
        "uploads, exports and search indexes together leave 1 GiB free",
        "the system needs space, too",
    ],
    ["vql", "64 KiB, 16 filters; texts of 1000 characters", "filters are combined in memory"],
    ["from object storage", "1000000 media; a manifest of 64 MiB", "a listing is kept in memory"],
];
