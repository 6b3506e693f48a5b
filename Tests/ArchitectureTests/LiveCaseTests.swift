import Testing

@Suite("The 64 cases of a live HLS writer: each has its tests, or a reason why there is none")
struct LiveCaseTests {
    enum Proof {
        /// Titles of tests of this project.
        case tests([String])
        case none(String)
    }

    private static let playerPK =
        "a live PK, 20 switches, 3 drops and returns: Chromium and hls.js never stall and report no error, the cues are in step, and lint finds nothing"
    private static let lint =
        "two publishers with scenes changing: nothing is found, live and in the directory afterwards"
    private static let timeline =
        "killed and started again: one map, no discontinuity, no gap, and every frame of the time decodes"

    static let cases: [(number: Int, what: String, proof: Proof)] = [
        (
            1, "the first list",
            .tests([
                "the first publish of one segment is a whole list",
                "nothing is shown before every playlist has a segment",
            ])
        ),
        (
            2, "a segment above the target duration",
            .tests(["a length that rounds above the target duration is refused"])
        ),
        (3, "sums of EXTINF", .tests(["any run of 100 segments sums to its span within a frame"])),
        (4, "the window slides", .tests(["one more segment takes exactly one from the head"])),
        (5, "three target durations stay", .tests(["a window below three target durations is not cut below them"])),
        (
            6, "a tagged segment leaves",
            .tests([
                "the discontinuity sequence rises exactly when a tagged segment itself leaves, and no number changes"
            ])
        ),
        (
            7, "two discontinuities",
            .tests([
                "the discontinuity sequence rises exactly when a tagged segment itself leaves, and no number changes"
            ])
        ),
        (
            8, "declared numbers never change",
            .tests([
                "the same media sequence number always names the same resource, and the header never changes",
                "the declared numbers follow from the grid alone",
            ])
        ),
        (9, "the version", .tests(["the version is what the tags need"])),
        (
            10, "a number keeps its URI",
            .tests(["the same media sequence number always names the same resource, and the header never changes"])
        ),
        (
            11, "CODECS",
            .tests([
                "profile, level and picture size come from the parameter set",
                "sound alone lists only its codec and no resolution; pictures alone name no group",
            ])
        ),
        (
            12, "BANDWIDTH",
            .tests([
                "the meter agrees with looking at every run", "declared values follow the encoder's verifier",
                "a variant that exceeds what it declares is reported once",
            ])
        ),
        (
            13, "the multivariant playlist",
            .tests([
                "a ladder with a shared audio group",
                "each coding is a group of its own with the same name; every rendition goes with every one, sound alone last",
            ])
        ),
        (
            14, "names that people chose",
            .tests([
                "no name can break the list",
                "what people wrote cannot end a tag, nor make an attribute name of its own",
            ])
        ),
        (
            15, "the program date",
            .tests([
                "the program date follows from the origin, never from a sum",
                "a clock that was set back never leads into a published slot",
            ])
        ),
        (
            16, "date ranges",
            .tests([
                "opened by one tag, closed by a second with the same ID and no other value for any attribute",
                "it may leave once it is closed and ends before the first segment, and not while any of it is listed",
                "a successor keeps what is listed, closes what was open, and never uses an ID again",
            ])
        ),
        (
            17, "the end",
            .tests(["an ended list has no hint and no report", "an ended playlist is served, whatever is asked"])
        ),
        (18, "an EVENT list", .tests(["an event list only ever grows, over 1,000 updates"])),
        (
            19, "keys",
            .tests([
                "the first part of a key's first segment stands behind its EXT-X-KEY, which is there with the hint already",
                "keys are in their own file alone, and served while something needs them, never beyond the next",
            ])
        ),
        (
            20, "I-frame lists",
            .tests([
                "the multivariant playlist names one a rendition; every range begins with a moof in a file that is there",
                "each key frame is an entry with its bytes, as long as to the next one; a gap stays one",
            ])
        ),
        (
            21, "the initialization segment",
            .tests([
                "the form of the extradata does not change a byte",
                "the initialization segments are the same bytes in every run",
            ])
        ),
        (
            22, "a part's boxes",
            .tests([
                "a fragment's boxes", "segment bytes are the bytes of its parts; times, numbers and flags are right",
                "pictures: sizes, durations, sync flags, composition offsets, decode times, avcC",
            ])
        ),
        (
            23, "a segment is its parts",
            .tests(["a segment is its parts, byte for byte the file, and whole parts end on the grid"])
        ),
        (
            24, "reordered pictures",
            .tests(["reordered pictures: the segment's time is its IDR picture's, whatever the delay"])
        ),
        (25, "20 years", .tests(["media time of 20 years keeps 64 bits"])),
        (
            26, "a hole",
            .tests([
                "whole slots without a picture come out as gaps, and time jumps over them",
                "a missing picture stretches the one before it, and the segment still ends on the grid",
            ])
        ),
        (
            27, "emsg",
            .tests([
                "the part and the segment that hold the picture have it in every rendition of the pictures, the sound has none",
                "an event a second: each cue within 50 ms of its picture, none lost or doubled over switches of the rendition",
            ])
        ),
        (
            28, "AES-128",
            .tests([
                "each segment and part opens by itself with the key its playlist names, and is what it would be in the clear"
            ])
        ),
        (29, "a part without its segment", .tests(["a part without its segment is refused"])),
        (30, "too far ahead", .tests(["more than two segments ahead is refused"])),
        (31, "the next segment", .tests(["a reload is held until its part is there, and is answered by it"])),
        (
            32, "behind a segment's last part",
            .tests(["a part: held until it is there; one behind a whole segment's last is the first of the next"])
        ),
        (33, "older than the window", .tests(["requests that are answered at once"])),
        (
            34, "nothing comes",
            .tests(["what does not come within three target durations is answered 503, and nothing waits any more"])
        ),
        (35, "delta updates", .tests(["old list + delta = new list, at every step and across a change of map"])),
        (36, "nothing to skip", .tests(["where nothing may be skipped, and in an ended list, the full list answers"])),
        (
            37, "hinted parts",
            .tests([
                "of a hinted part nothing is sent before all of it is there", "a hint that is given up is answered 404",
            ])
        ),
        (
            38, "2,000 who wait",
            .tests([
                "two thousand waiting clients are all answered, with the part they asked for or a later one",
                "one part wakes them all, each with the same list",
            ])
        ),
        (39, "rendition reports", .tests(["lists report on each other, within one part of the truth"])),
        (
            40, "HTTP",
            .tests([
                "the multivariant playlist is compressed for who takes it, and caches keep the forms apart",
                "type, caching, ranges and CORS come with an object", "HEAD tells the length and sends nothing",
                "the query goes with every URI, as it was written; delivery directives and the request's own CMCD do not",
            ])
        ),
        (
            41, "renditions side by side",
            .tests(["a rendition that falls behind holds up nobody else, and is a gap once it is given up", lint])
        ),
        (
            42, "lengths of parts",
            .tests([
                "part durations: none above the target, and none but the last of a segment or independent ones below 85 %",
                "sound that does not divide belongs to the slot it starts in, at any rate",
            ])
        ),
        (
            43, "a minute in browsers",
            .tests([playerPK, "latency from the publisher's picture to the viewer's, 16 and 10 frames a part"])
        ),
        (
            44, "rung after rung",
            .tests([
                "every level plays after every other, with the sound of its group and its pictures per second, without a stall"
            ])
        ),
        (
            45, "flash and beep",
            .tests([
                "a PK of 20 s, the one who is heard on the left: each pane's counter advances with every picture",
                "two who come again and again, each time at another phase to the room's pictures",
            ])
        ),
        (
            46, "PKs one after the other",
            .tests([
                playerPK,
                "NetEase 9: a canvas for each scene: another map and a discontinuity in all playlists, where a segment begins",
            ])
        ),
        (
            47, "a source of another size",
            .tests(["P02, P08, ReplayKit 4: the sizes switch once, no packet is damaged, the sound goes on"])
        ),
        (
            48, "a source is away",
            .tests(["ReplayKit 2: unpublish does not end the room: it goes on in time, and the publisher can come back"]
            )
        ),
        (
            49, "killed and started again",
            .tests([
                timeline, "the outage is slate: no discontinuity, no gap, one map, decode times go on in every track",
            ])
        ),
        (
            50, "the state file is lost",
            .tests([
                "playlists without a state file are not overwritten unasked",
                "without the state file no list is published",
            ])
        ),
        (
            51, "all is lost",
            .none("an empty directory is a new room's; nothing is left that could tell the numbers that were used")
        ),
        (
            52, "killed between segment and list",
            .tests([
                "what a killed worker wrote and never listed is cleaned up",
                "numbers, names and bytes hold whatever operation was the last",
            ])
        ),
        (
            53, "the disk is full",
            .tests([
                "a full store stops nothing: numbers go on when there is space again, and the state is never behind the lists"
            ])
        ),
        (
            54, "uploads that fail",
            .tests([
                "an origin that is away for a while: what was lost is a gap, the live edge goes on at once, little waits",
                "an origin that hangs up for a while: no tick is late, its playlists never lie, the live edge comes back",
            ])
        ),
        (
            55, "a distant store",
            .tests([
                "a store 300 ms away lists every segment within half a target duration, the first with its map aside"
            ])
        ),
        (
            56, "a reader who never rests",
            .tests(["encoders on their own threads, a writer on its own, and a reader who never sees a torn list"])
        ),
        (
            57, "retention",
            .tests([
                "everything listed is there at every moment, everything else goes in its time, over 500 segments",
                "parts stay three target durations after their tags went, then leave; memory is bounded",
            ])
        ),
        (
            58, "24 hours",
            .tests(["every sum of EXTINF is exact to less than a frame, numbers rise by one and texts stay bounded"])
        ),
        (
            59, "what publishers send",
            .tests([
                "ffmpeg, with B-pictures",
                "S13: timestamps beyond 24.9 days and the wrap at 49.7 days, unwrapped, are like any other",
                "sound alone and pictures alone are outputs too",
            ])
        ),
        (
            60, "another codec",
            .tests([
                "44.1 to 48 kHz and back is heard without a step and without a gap of 50 ms",
                "P02, P08, ReplayKit 4: the sizes switch once, no packet is damaged, the sound goes on",
            ])
        ),
        (61, "no frame is lost", .tests([timeline, "every rendition is whole, on one grid, and plays by itself"])),
        (62, "errors of hls.js", .tests([playerPK])),
        (
            63, "two workers, one directory",
            .tests([
                "a second worker on the same directory takes over: the first publishes nothing more and is superseded",
                "a worker that stood still while another took the room shows nothing under a new number",
            ])
        ),
        (
            64, "a room that has ended",
            .tests([
                "a directory whose room has ended is refused with 73, and taken with --new-session",
                "a room that has ended is refused, and taken over only by a new session",
            ])
        ),
    ]

    @Test("each number is there once, and every test that is named exists under its title")
    func complete() {
        #expect(Self.cases.map(\.number) == Array(1...64))
        let text = SourceTree.swiftFiles(in: "Tests").filter { !$0.path.hasSuffix("/LiveCaseTests.swift") }
            .flatMap(\.lines).joined(separator: "\n")
        for (number, what, proof) in Self.cases {
            switch proof {
            case .tests(let titles):
                #expect(!titles.isEmpty)
                for title in titles {
                    let isThere = text.contains("\"\(title)\"")
                    #expect(isThere, "case \(number), \(what): no test \(title)")
                }
            case .none(let reason): #expect(reason.count > 20, "case \(number), \(what)")
            }
        }
    }
}
