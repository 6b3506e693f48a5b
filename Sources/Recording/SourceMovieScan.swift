import MediaTypes

/// Finds the end of the last whole part in the file of a killed worker, and what the file contains.
///
/// Reads only boxes' headers and the `moov` and `moof` boxes. The bytes are untrusted: a damaged box counts as the end.
package struct SourceMovieScan: Sendable, Hashable {
    /// Offset after the last whole part: the file is cut there.
    package private(set) var end: Int64 = 0
    /// Offset of the box for the duration; nil if the header is incomplete.
    package private(set) var durationOffset: Int64?
    /// The tracks in the order of their ids.
    package private(set) var tracks: [Track] = []
    /// Fragments of the first video track that begin with a key frame.
    package private(set) var index: [SourceMovieHeader.IndexEntry] = []
    /// Whether the file was already finished: it ends with an index.
    package private(set) var isFinished = false

    package struct Track: Sendable, Hashable {
        package fileprivate(set) var isVideo = false
        /// Ticks per second.
        package fileprivate(set) var timescale: Int64 = 0
        /// Time from the start of the file to time 0 of the track, in ticks of the movie.
        package fileprivate(set) var delay: Int64 = 0
        package fileprivate(set) var frames = 0
        package fileprivate(set) var keyFrames = 0
        package fileprivate(set) var bytes: Int64 = 0
        /// Decoding time after the last frame, in ticks.
        package fileprivate(set) var end: Int64 = 0
    }

    /// Largest `moov` or `moof` that is read, in bytes; ours are far smaller.
    private static let largestBox = 8 << 20

    /// Length of the file in nanoseconds.
    package var duration: Int64 {
        self.tracks.filter { $0.frames > 0 }.reduce(0) { longest, track in
            let media = TimeMath.rescale(track.end, from: track.timescale, to: TimeMath.nanoseconds)
            let delay = TimeMath.rescale(track.delay, from: SourceMovieHeader.timescale, to: TimeMath.nanoseconds)
            return max(longest, media &+ delay)
        }
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - size: Size of the file in bytes.
    ///   - read: Returns the bytes in a range of the file; nil, or fewer bytes, if they cannot be read.
    package init(size: Int64, read: (Range<Int64>) -> [UInt8]?) {
        var position: Int64 = 0
        var moof: (range: Range<Int64>, bytes: [UInt8])?
        while position < size {
            guard let head = read(position..<min(size, position &+ 16)), head.count >= 8 else { return }
            let reader = BoxReader(bytes: head)
            guard let short = reader.u32(0), let type = reader.u32(4) else { return }
            var length = Int64(short)
            if short == 1 {
                guard let wide = reader.u64(8), let exact = Int64(exactly: wide) else { return }
                length = exact
            }
            guard length >= 8, length <= size &- position else { return }
            let range = position..<(position &+ length)
            switch type {
            case 0x6674_7970: break  // ftyp
            case 0x6D6F_6F76:  // moov
                guard let bytes = Self.bytes(range, read), self.readHeader(bytes, at: position) else { return }
            case 0x6D6F_6F66:  // moof
                guard !self.tracks.isEmpty, let bytes = Self.bytes(range, read) else { return }
                moof = (range, bytes)
            case 0x6D64_6174:  // mdat
                guard let part = moof, self.readPart(part.bytes, at: part.range.lowerBound) else { return }
                moof = nil
            case 0x6D66_7261: self.isFinished = range.upperBound == size  // mfra
            default: return
            }
            position = range.upperBound
            // A part counts with its media only; the index is written anew.
            if moof == nil, type != 0x6D66_7261 { self.end = position }
        }
    }

    private static func bytes(_ range: Range<Int64>, _ read: (Range<Int64>) -> [UInt8]?) -> [UInt8]? {
        guard range.upperBound &- range.lowerBound <= Int64(Self.largestBox), let bytes = read(range),
            Int64(bytes.count) == range.upperBound &- range.lowerBound
        else { return nil }
        return bytes
    }

    private mutating func readHeader(_ bytes: [UInt8], at offset: Int64) -> Bool {
        let reader = BoxReader(bytes: bytes)
        guard self.tracks.isEmpty, let moov = reader.boxes(in: 0..<bytes.count)?.first,
            let boxes = reader.boxes(in: moov.body)
        else { return false }
        for box in boxes where box.type == "trak" {
            guard let mdhd = reader.first(["mdia", "mdhd"], in: box.body),
                let hdlr = reader.first(["mdia", "hdlr"], in: box.body),
                let timescale = reader.u32(mdhd.body.lowerBound + 12), timescale > 0
            else { return false }
            var track = Track()
            track.timescale = Int64(timescale)
            track.isVideo = reader.u32(hdlr.body.lowerBound + 8) == 0x7669_6465
            if let elst = reader.first(["edts", "elst"], in: box.body), reader.u32(elst.body.lowerBound + 4) == 2 {
                track.delay = Int64(reader.u32(elst.body.lowerBound + 8) ?? 0)
            }
            self.tracks.append(track)
        }
        guard let mvex = reader.first(["mvex"], in: moov.body), let first = reader.boxes(in: mvex.body)?.first,
            first.type == "free" || first.type == "mehd", first.range.count == SourceMovieHeader.durationSize
        else { return false }
        self.durationOffset = offset &+ Int64(first.range.lowerBound)
        return !self.tracks.isEmpty
    }

    /// Adds the frames of a part.
    private mutating func readPart(_ bytes: [UInt8], at offset: Int64) -> Bool {
        let reader = BoxReader(bytes: bytes)
        guard let moof = reader.boxes(in: 0..<bytes.count)?.first,
            let tfhd = reader.first(["traf", "tfhd"], in: moof.body),
            let tfdt = reader.first(["traf", "tfdt"], in: moof.body),
            let trun = reader.first(["traf", "trun"], in: moof.body), let id = reader.u32(tfhd.body.lowerBound + 4),
            let time = reader.u64(tfdt.body.lowerBound + 4).flatMap({ Int64(exactly: $0) }), time < 1 << 60,
            let flags = reader.u32(trun.body.lowerBound), let count = reader.u32(trun.body.lowerBound + 4), id > 0,
            let position = Int(exactly: id - 1), self.tracks.indices.contains(position)
        else { return false }
        var track = self.tracks[position]
        let isFull = flags & 0xF00 == 0xF00
        let row = isFull ? 16 : 8
        var field = trun.body.lowerBound + 12
        guard trun.body.upperBound - field == row * Int(count) else { return false }
        var end = time
        for number in 0..<count {
            guard let duration = reader.u32(field), let size = reader.u32(field + 4) else { return false }
            let isKey = !isFull || reader.u32(field + 8).map { $0 & 0x1_0000 == 0 } ?? false
            if number == 0, isFull, isKey, self.tracks.firstIndex(where: \.isVideo) == position {
                let composition = Int64(Int32(bitPattern: reader.u32(field + 12) ?? 0))
                self.index.append(SourceMovieHeader.IndexEntry(time: max(0, time &+ composition), offset: offset))
            }
            track.frames += 1
            if isKey { track.keyFrames += 1 }
            track.bytes &+= Int64(size)
            end &+= Int64(duration)
            field += row
        }
        track.end = max(track.end, end)
        self.tracks[position] = track
        return true
    }
}
