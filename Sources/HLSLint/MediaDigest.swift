import MediaTypes

/// The properties of a segment or part that are kept after it was read: a few hundred bytes instead of the media.
struct MediaDigest: Sendable, Hashable {
    /// The times and counts of one track's samples. Times are ticks of ``timescale``.
    struct Span: Sendable, Hashable {
        let track: UInt32
        let isVideo: Bool
        let timescale: Int64
        /// Decoding time of the first sample.
        var start: Int64
        /// Decoding time at which the last sample ends.
        var end: Int64
        /// Whether the first sample is an IDR frame (H.265: also CRA and BLA; other codecs: a sync sample); always true
        /// for audio.
        var startsIndependent: Bool
        /// Whether at least one sample is such a frame; always true for audio.
        var hasIndependent: Bool
        /// The most frequent sample duration; 0 without samples.
        var commonDuration: Int64 = 0
        var durations: [Int64: Int] = [:]
        var sampleCount = 0
        /// Earliest presentation time of a sample: decoding time plus composition offset, minus the edit list's shift.
        var firstShown: Int64 = 0
        /// Latest presentation time of a sample.
        var lastShown: Int64 = 0
        /// Whether all samples have the same duration, apart from rounding.
        var isEven = false

        func nanoseconds(_ ticks: Int64) -> Int64 {
            let (whole, rest) = ticks.quotientAndRemainder(dividingBy: self.timescale)
            return whole &* 1_000_000_000 &+ (rest &* 1_000_000_000) / self.timescale
        }
        var startTime: Int64 { self.nanoseconds(self.start) }
        var duration: Int64 { self.nanoseconds(self.end &- self.start) }
        /// Duration of a frame in nanoseconds.
        var frame: Int64 { self.nanoseconds(max(1, self.commonDuration)) }
        /// Earliest presentation time in nanoseconds.
        var shownTime: Int64 { self.nanoseconds(self.firstShown) }
        /// Time in nanoseconds from the earliest presentation time to the end of the frame with the latest one.
        var shownDuration: Int64 { self.nanoseconds(self.lastShown &- self.firstShown &+ self.commonDuration) }
    }

    let bytes: ByteDigest
    var spans: [Span] = []
    var firstSequence: UInt32?
    var lastSequence: UInt32?
    var fragments = 0
    var faults: [PlaylistFault] = []
    var events: [Event] = []
    /// The video samples for a decoder; removed before the digest is kept.
    var coded: LintSamples?
    /// Presentation times of the first video track's samples, used while the bytes are read.
    private var shown: [Int64] = []

    /// The track whose times are used as those of the segment: video if there is any.
    var main: Span? { self.spans.first { $0.isVideo } ?? self.spans.first }

    /// Makes the digest of bytes that are not parsed, because they are encrypted or in another container.
    init(unread bytes: [UInt8]) { self.bytes = ByteDigest(bytes) }

    /// Reads a segment or part.
    ///
    /// - Parameter keepsSamples: Whether to fill ``coded``.
    init(_ data: [UInt8], _ initialization: InitializationFacts, keepsSamples: Bool = false) {
        self.bytes = ByteDigest(data)
        if keepsSamples, let track = initialization.tracks.first(where: { $0.isVideo && !$0.configuration.isEmpty }) {
            self.coded = LintSamples(configuration: track.configuration, bytes: data)
        }
        let reader = BoxReader(bytes: data)
        guard let boxes = reader.boxes(in: 0..<data.count) else {
            self.fault(.segmentUnreadable, "a box does not fit into the \(data.count) bytes")
            return
        }
        for (index, box) in boxes.enumerated() where box.type == "moof" {
            let media = boxes[(index + 1)...].first { $0.type == "mdat" }
            self.read(reader, box, media?.body, initialization)
        }
        self.readEvents(reader, boxes)
        if self.fragments == 0 { self.fault(.segmentUnreadable, "there is no moof with samples") }
        for index in self.spans.indices {
            let common = self.spans[index].durations.max { ($0.value, $1.key) < ($1.value, $0.key) }
            self.spans[index].commonDuration = common?.key ?? 0
            self.spans[index].isEven = self.spans[index].lastsEvenly
            self.spans[index].durations = [:]
        }
        self.shown.sort()
        if let (time, _) = zip(self.shown, self.shown.dropFirst()).first(where: { $0 == $1 }) {
            self.fault(.frameTimesBroken, "two frames are presented at \(time)")
        }
        self.shown = []
    }

    mutating func fault(_ rule: Rule, _ what: String) {
        if self.faults.count < 8 { self.faults.append(PlaylistFault(rule, what)) }
    }

    // MARK: Fragments

    private mutating func read(
        _ reader: BoxReader, _ moof: BoxReader.Box, _ media: Range<Int>?, _ facts: InitializationFacts
    ) {
        guard let children = reader.boxes(in: moof.body) else {
            return self.fault(.segmentUnreadable, "a box of moof does not fit")
        }
        self.fragments += 1
        if let mfhd = children.first(where: { $0.type == "mfhd" }), let number = reader.u32(mfhd.body.lowerBound + 4) {
            if let last = self.lastSequence, number <= last {
                self.fault(.sequenceBroken, "fragment \(number) follows fragment \(last)")
            }
            self.firstSequence = self.firstSequence ?? number
            self.lastSequence = number
        } else {
            self.fault(.segmentUnreadable, "moof has no mfhd")
        }
        for box in children where box.type == "traf" {
            self.readTrack(reader, box, base: moof.range.lowerBound, media, facts)
        }
    }

    private struct Defaults {
        var duration: UInt32
        var size: UInt32
        var flags: UInt32
    }

    private mutating func readTrack(
        _ reader: BoxReader, _ traf: BoxReader.Box, base: Int, _ media: Range<Int>?, _ facts: InitializationFacts
    ) {
        guard let children = reader.boxes(in: traf.body), let tfhd = children.first(where: { $0.type == "tfhd" }),
            let flags = reader.u32(tfhd.body.lowerBound), let id = reader.u32(tfhd.body.lowerBound + 4)
        else { return self.fault(.segmentUnreadable, "a traf has no readable tfhd") }
        guard let track = facts.tracks.first(where: { $0.id == id }) else {
            return self.fault(.mapUnreadable, "the initialization segment has no track \(id)")
        }
        if flags & 0x2_0000 == 0 || flags & 1 != 0 {
            self.fault(.addressing, "tfhd does not have default-base-is-moof, or has its own base data offset")
        }
        guard let tfdt = children.first(where: { $0.type == "tfdt" }),
            let time = reader.number(
                tfdt.body.lowerBound + 4, reader.u8(tfdt.body.lowerBound) == 1 ? 8 : 4)
        else { return self.fault(.decodeTimeMissing, "track \(id) has no tfdt") }
        guard time < 1 << 60 else {
            return self.fault(.decodeTimeBroken, "the decode time \(time) is a negative value that wrapped")
        }
        var defaults = Defaults(duration: track.defaultDuration, size: track.defaultSize, flags: track.defaultFlags)
        var position = tfhd.body.lowerBound + 8 + (flags & 1 != 0 ? 8 : 0) + (flags & 2 != 0 ? 4 : 0)
        for (bit, field) in [(UInt32(8), \Defaults.duration), (0x10, \.size), (0x20, \.flags)] where flags & bit != 0 {
            defaults[keyPath: field] = reader.u32(position) ?? 0
            position += 4
        }
        var decodeTime = Int64(time)
        for box in children where box.type == "trun" {
            self.readRun(reader, box, track, defaults, base: base, media, &decodeTime)
        }
    }

    private mutating func readRun(
        _ reader: BoxReader, _ trun: BoxReader.Box, _ track: InitializationFacts.Track, _ defaults: Defaults, base: Int,
        _ media: Range<Int>?, _ decodeTime: inout Int64
    ) {
        guard let word = reader.u32(trun.body.lowerBound), let count = reader.u32(trun.body.lowerBound + 4) else {
            return self.fault(.segmentUnreadable, "a trun is too short")
        }
        let flags = word & 0xFF_FFFF
        var position = trun.body.lowerBound + 8
        var data = base
        if flags & 1 != 0 {
            data &+= Int(Int32(bitPattern: reader.u32(position) ?? 0))
            position += 4
        }
        var firstFlags: UInt32?
        if flags & 4 != 0 {
            firstFlags = reader.u32(position)
            position += 4
        }
        let columns = (8..<12).count { flags & (1 << UInt32($0)) != 0 }
        guard
            Int(count) <= max(0, trun.body.upperBound - position) / max(1, columns * 4)
                || columns == 0 && count < 65_536
        else { return self.fault(.segmentUnreadable, "a trun has fewer rows than it counts") }
        let start = decodeTime
        let isSigned = word >> 24 > 0
        var firstShown = Int64.max
        var lastShown = Int64.min
        var isFirst = true
        var total = 0
        var startsIndependent = false
        var hasIndependent = false
        var durations: [Int64: Int] = [:]
        for _ in 0..<count {
            func field(_ bit: UInt32, _ fallback: UInt32) -> UInt32 {
                guard flags & bit != 0 else { return fallback }
                defer { position += 4 }
                return reader.u32(position) ?? 0
            }
            let duration = Int64(field(0x100, defaults.duration))
            let size = Int(field(0x200, defaults.size))
            let sampleFlags = field(0x400, isFirst ? firstFlags ?? defaults.flags : defaults.flags)
            let offset = field(0x800, 0)
            let isSync = sampleFlags & 0x1_0000 == 0
            let begin = data &+ total
            let range = begin..<max(begin, begin &+ size)
            let isIDR = track.isVideo ? Self.isIDR(reader, range, track) ?? isSync : true
            if track.isVideo, isIDR != isSync {
                self.fault(
                    .syncFlagUntrue,
                    "a sample is \(isSync ? "" : "not ")flagged sync and is \(isIDR ? "an" : "no") IDR frame")
            }
            if track.isVideo {
                if let fault = Self.damage(reader, range, track) { self.fault(.sliceDamaged, fault) }
                if self.coded?.configuration == track.configuration, range.lowerBound >= 0,
                    range.upperBound <= reader.bytes.count
                {
                    self.coded?.samples.append(range)
                }
            }
            let time =
                decodeTime &+ (isSigned ? Int64(Int32(bitPattern: offset)) : Int64(offset)) &- track.presentationShift
            (firstShown, lastShown) = (min(firstShown, time), max(lastShown, time))
            if track.isVideo, track.id == self.spans.first(where: \.isVideo)?.track ?? track.id {
                self.shown.append(time)
            }
            if isFirst { startsIndependent = isIDR }
            hasIndependent = hasIndependent || isIDR
            durations[duration, default: 0] += 1
            decodeTime &+= duration
            total &+= size
            isFirst = false
        }
        if count > 0, let media,
            data < media.lowerBound || data &+ total > media.upperBound
        {
            self.fault(.addressing, "samples are outside the mdat that follows")
        } else if media == nil {
            self.fault(.segmentUnreadable, "no mdat follows the moof")
        }
        self.add(
            Span(
                track: track.id, isVideo: track.isVideo, timescale: track.timescale, start: start, end: decodeTime,
                startsIndependent: startsIndependent, hasIndependent: hasIndependent, durations: durations,
                sampleCount: Int(count), firstShown: firstShown, lastShown: lastShown))
    }

    /// Appends a run of samples to the previous samples of its track.
    private mutating func add(_ run: Span) {
        guard run.sampleCount > 0 else { return }
        guard let index = self.spans.firstIndex(where: { $0.track == run.track }) else {
            self.spans.append(run)
            return
        }
        if self.spans[index].end != run.start {
            self.fault(
                .decodeTimeBroken,
                "a fragment starts at \(run.start) but the previous one ends at \(self.spans[index].end)")
        }
        self.spans[index].end = run.end
        self.spans[index].hasIndependent = self.spans[index].hasIndependent || run.hasIndependent
        self.spans[index].sampleCount += run.sampleCount
        self.spans[index].durations.merge(run.durations, uniquingKeysWith: +)
        self.spans[index].firstShown = min(self.spans[index].firstShown, run.firstShown)
        self.spans[index].lastShown = max(self.spans[index].lastShown, run.lastShown)
    }

    /// Whether the first slice of a sample is IDR (H.265: also CRA and BLA); `nil` if that cannot be determined. Spec:
    /// ITU-T H.264 §7.4.1, H.265 §7.4.2.
    private static func isIDR(_ reader: BoxReader, _ sample: Range<Int>, _ track: InitializationFacts.Track) -> Bool? {
        let isAVC = track.entry.hasPrefix("avc")
        guard track.lengthSize > 0, isAVC || track.entry.hasPrefix("h"), sample.upperBound <= reader.bytes.count else {
            return nil
        }
        var position = sample.lowerBound
        while position < sample.upperBound {
            guard let length = reader.number(position, track.lengthSize), let size = Int(exactly: length),
                let head = reader.u8(position + track.lengthSize), size > 0
            else { return nil }
            let type = isAVC ? head & 0x1F : head >> 1 & 0x3F
            if isAVC ? type == 5 : (16...21).contains(type) { return true }
            if isAVC ? (1...4).contains(type) : type < 16 { return false }
            guard size <= sample.upperBound - position - track.lengthSize else { return nil }
            position += track.lengthSize + size
        }
        return nil
    }
}
