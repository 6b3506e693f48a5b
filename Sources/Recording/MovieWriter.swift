import HLS
import MediaTypes

/// Writes the head of an MP4 file: `ftyp`, `moov` and the start of `mdat`. The samples follow it, so that a player can
/// start before it has the whole file. Spec: ISO/IEC 14496-12 §6, §8. Chapters are written both as a QuickTime text
/// track and as Nero's `chpl`, because players read one or the other.
struct MovieWriter: Sendable {
    let video: MovieTrack?
    let audio: MovieTrack?
    let chapters: [Chapter]
    let title: String?
    /// The range of the program to play, in nanoseconds since the room's origin, limited to the available media; `nil`:
    /// everything. Earlier frames stay in the file, because played frames depend on them.
    var shown: Range<Int64>?

    private var tracks: [MovieTrack] { [self.video, self.audio].compactMap { $0 } }
    var chapterTrackID: UInt32 { UInt32(self.tracks.count) + 1 }

    /// Ticks per second of the movie.
    private static let timescale: Int64 = 90_000
    static let chapterTimescale: Int64 = 1_000
    /// The identity transformation matrix.
    static let matrix: [UInt32] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000]

    /// The part of the file before the first sample. The samples follow in this order: ``chapterSamples``, then for
    /// each segment interval the video and the audio.
    var head: [UInt8] {
        // The tables contain file offsets, and their length depends on whether the offsets fit in 32 bits.
        let body = self.chapterSamples.count + self.tracks.reduce(0) { $0 + $1.chunks.reduce(0) { $0 + $1.byteCount } }
        var writer = self.written(base: 0, isLarge: false, body: body)
        let isLarge = writer.bytes.count + body > Int(UInt32.max)
        if isLarge { writer = self.written(base: 0, isLarge: true, body: body) }
        return self.written(base: writer.bytes.count, isLarge: isLarge, body: body).bytes
    }

    /// The samples of the chapter track, which precede the media: each is a text with a 16-bit length, in UTF-8.
    var chapterSamples: [UInt8] {
        var writer = BoxWriter()
        for chapter in self.chapters { Self.write(chapter, &writer) }
        return writer.bytes
    }

    private static func write(_ chapter: Chapter, _ writer: inout BoxWriter) {
        let text = Array(chapter.title.utf8.prefix(1_000))
        writer.u16(UInt16(clamping: text.count))
        writer.raw(text)
        // Encoding of the text: UTF-8.
        writer.box("encd") { $0.u32(0x100) }
    }

    static func size(of chapter: Chapter) -> UInt32 {
        var writer = BoxWriter()
        self.write(chapter, &writer)
        return UInt32(clamping: writer.bytes.count)
    }

    // MARK: Times

    /// Start of the movie in nanoseconds since the room's origin: the start of the ``shown`` range, but not before the
    /// first video frame (the first audio frame if there is no video).
    private var start: Int64 {
        let first = (self.video ?? self.audio).map { Self.nanoseconds($0.firstTime, $0) } ?? 0
        return max(first, self.shown?.lowerBound ?? first)
    }

    private static func nanoseconds(_ ticks: Int64, _ track: MovieTrack) -> Int64 {
        TimeMath.rescale(ticks, from: track.timescale, to: TimeMath.nanoseconds)
    }

    /// The played part of a track and its position in the movie. Spec: ISO/IEC 14496-12 §8.6.6.
    private struct Edit {
        /// Delay before the track begins, in ticks of the movie's timescale.
        var delay: Int64
        /// Start of the played part in ticks of the track, counted from the first sample's decoding time.
        var mediaTime: Int64
        /// Duration of the played part in ticks of the movie's timescale.
        var duration: Int64
    }

    private func edit(of track: MovieTrack) -> Edit {
        let first = Self.nanoseconds(track.firstTime, track)
        let late = max(0, first - self.start)
        // Media before the start of the movie, such as audio before the first video frame, is not played.
        let early = TimeMath.rescale(max(0, self.start - first), from: TimeMath.nanoseconds, to: track.timescale)
        let mediaTime = track.leadIn + early
        var duration = TimeMath.rescale(
            max(0, track.duration - mediaTime), from: track.timescale, to: Self.timescale)
        if let shown = self.shown {
            let rest = max(0, shown.upperBound &- max(self.start, first))
            duration = min(duration, TimeMath.rescale(rest, from: TimeMath.nanoseconds, to: Self.timescale))
        }
        return Edit(
            delay: TimeMath.rescale(late, from: TimeMath.nanoseconds, to: Self.timescale), mediaTime: mediaTime,
            duration: duration)
    }

    /// Duration of the movie in ticks of its timescale.
    var duration: Int64 {
        self.tracks.map { track in
            let edit = self.edit(of: track)
            return edit.delay + edit.duration
        }.max() ?? 0
    }

    /// Duration of the movie in milliseconds.
    var durationMs: Int64 { TimeMath.rescale(self.duration, from: Self.timescale, to: 1_000) }

    // MARK: Boxes

    /// Writes the head of the file.
    ///
    /// - Parameters:
    ///   - base: File offset of the first sample, which is the size of the head.
    ///   - isLarge: Whether chunk offsets have 64 bits.
    ///   - body: Number of bytes of all samples.
    private func written(base: Int, isLarge: Bool, body: Int) -> BoxWriter {
        var writer = BoxWriter()
        writer.box("ftyp") { box in
            box.text("isom")
            box.u32(0x200)
            for brand in ["isom", "iso2", "avc1", "mp41"] { box.text(brand) }
        }
        let places = self.places(from: base)
        writer.box("moov") { moov in
            self.movieHeader(&moov)
            for (index, track) in self.tracks.enumerated() {
                self.trackBox(track, id: UInt32(index) + 1, places: places[index], isLarge: isLarge, &moov)
            }
            if !self.chapters.isEmpty { self.chapterTrack(base: base, isLarge: isLarge, &moov) }
            self.userData(&moov)
        }
        // The size of `mdat` always has 64 bits.
        writer.u32(1)
        writer.text("mdat")
        writer.u64(UInt64(body) + 16)
        return writer
    }

    /// Returns the file offsets of the chunks of each track.
    private func places(from base: Int) -> [[Int]] {
        var position = base + self.chapterSamples.count
        var next = self.tracks.map { _ in 0 }
        var places: [[Int]] = self.tracks.map { _ in [] }
        while let segmentIndex = zip(self.tracks, next).compactMap({
            $0.chunks.count > $1 ? $0.chunks[$1].segmentIndex : nil
        }).min() {
            for (index, track) in self.tracks.enumerated() {
                while next[index] < track.chunks.count, track.chunks[next[index]].segmentIndex == segmentIndex {
                    places[index].append(position)
                    position += track.chunks[next[index]].byteCount
                    next[index] += 1
                }
            }
        }
        return places
    }

    private func movieHeader(_ moov: inout BoxWriter) {
        moov.fullBox("mvhd", version: 1) { box in
            box.zeros(16)
            box.u32(UInt32(Self.timescale))
            box.u64(UInt64(max(0, self.duration)))
            box.u32(0x1_0000)
            box.u16(0x100)
            box.zeros(10)
            for value in Self.matrix { box.u32(value) }
            box.zeros(24)
            box.u32(self.chapterTrackID + 1)
        }
    }

    func trackHeader(
        id: UInt32, isEnabled: Bool, duration: Int64, isAudio: Bool, width: UInt16, height: UInt16,
        _ trak: inout BoxWriter
    ) {
        trak.fullBox("tkhd", version: 1, flags: isEnabled ? 3 : 0) { box in
            box.zeros(16)
            box.u32(id)
            box.zeros(4)
            box.u64(UInt64(max(0, duration)))
            box.zeros(8)
            box.zeros(4)
            box.u16(isAudio ? 0x100 : 0)
            box.zeros(2)
            for value in Self.matrix { box.u32(value) }
            box.u32(UInt32(width) << 16)
            box.u32(UInt32(height) << 16)
        }
    }

    func mediaHead(
        timescale: Int64, duration: Int64, handler: String, name: String, _ mdia: inout BoxWriter
    ) {
        mdia.fullBox("mdhd", version: 1) { box in
            box.zeros(16)
            box.u32(UInt32(clamping: timescale))
            box.u64(UInt64(max(0, duration)))
            box.u16(0x55C4)  // "und"
            box.u16(0)
        }
        mdia.fullBox("hdlr") { box in
            box.u32(0)
            box.text(handler)
            box.zeros(12)
            box.text(name)
            box.u8(0)
        }
    }

    private func trackBox(
        _ track: MovieTrack, id: UInt32, places: [Int], isLarge: Bool, _ moov: inout BoxWriter
    ) {
        let edit = self.edit(of: track)
        moov.box("trak") { trak in
            self.trackHeader(
                id: id, isEnabled: true, duration: edit.delay + edit.duration, isAudio: track.kind == .audio,
                width: track.width, height: track.height, &trak)
            trak.box("edts") { edts in
                edts.fullBox("elst", version: 1) { elst in
                    elst.u32(edit.delay > 0 ? 2 : 1)
                    if edit.delay > 0 {
                        elst.u64(UInt64(edit.delay))
                        elst.u64(.max)
                        elst.u32(0x1_0000)
                    }
                    elst.u64(UInt64(edit.duration))
                    elst.u64(UInt64(edit.mediaTime))
                    elst.u32(0x1_0000)
                }
            }
            if track.kind == .video, !self.chapters.isEmpty {
                trak.box("tref") { $0.box("chap") { $0.u32(self.chapterTrackID) } }
            }
            trak.box("mdia") { mdia in
                let isVideo = track.kind == .video
                self.mediaHead(
                    timescale: track.timescale, duration: track.duration, handler: isVideo ? "vide" : "soun",
                    name: isVideo ? "Video" : "Audio", &mdia)
                mdia.box("minf") { minf in
                    if isVideo {
                        minf.fullBox("vmhd", flags: 1) { $0.zeros(8) }
                    } else {
                        minf.fullBox("smhd") { $0.zeros(4) }
                    }
                    Self.dataReference(&minf)
                    minf.box("stbl") { Self.tables(of: track, places: places, isLarge: isLarge, &$0) }
                }
            }
        }
    }

    static func dataReference(_ minf: inout BoxWriter) {
        minf.box("dinf") { dinf in
            dinf.fullBox("dref") { dref in
                dref.u32(1)
                dref.fullBox("url ", flags: 1) { _ in }
            }
        }
    }

    private static func tables(of track: MovieTrack, places: [Int], isLarge: Bool, _ stbl: inout BoxWriter) {
        stbl.fullBox("stsd") { stsd in
            stsd.u32(UInt32(track.entries.count))
            for entry in track.entries { stsd.raw(entry) }
        }
        stbl.fullBox("stts") { stts in
            stts.u32(UInt32(track.durations.count))
            for run in track.durations {
                stts.u32(run.count)
                stts.u32(UInt32(clamping: run.value))
            }
        }
        if track.offsets.contains(where: { $0.value != 0 }) {
            stbl.fullBox("ctts", version: track.offsets.contains { $0.value < 0 } ? 1 : 0) { ctts in
                ctts.u32(UInt32(track.offsets.count))
                for run in track.offsets {
                    ctts.u32(run.count)
                    ctts.u32(UInt32(bitPattern: Int32(clamping: run.value)))
                }
            }
        }
        if !track.isAllSync {
            stbl.fullBox("stss") { stss in
                stss.u32(UInt32(track.syncSamples.count))
                for sample in track.syncSamples { stss.u32(sample) }
            }
        }
        self.sampleToChunk(track.chunks, &stbl)
        stbl.fullBox("stsz") { stsz in
            stsz.u32(0)
            stsz.u32(UInt32(track.sizes.count))
            for size in track.sizes { stsz.u32(size) }
        }
        self.chunkOffsets(places, isLarge: isLarge, &stbl)
    }

    private static func sampleToChunk(_ chunks: [MovieTrack.Chunk], _ stbl: inout BoxWriter) {
        var rows: [(first: UInt32, samples: UInt32, entry: UInt32)] = []
        for (index, chunk) in chunks.enumerated() {
            let entry = UInt32(chunk.entry) + 1
            if let last = rows.last, last.samples == chunk.samples, last.entry == entry { continue }
            rows.append((UInt32(index) + 1, chunk.samples, entry))
        }
        stbl.fullBox("stsc") { stsc in
            stsc.u32(UInt32(rows.count))
            for row in rows {
                stsc.u32(row.first)
                stsc.u32(row.samples)
                stsc.u32(row.entry)
            }
        }
    }

    static func chunkOffsets(_ places: [Int], isLarge: Bool, _ stbl: inout BoxWriter) {
        stbl.fullBox(isLarge ? "co64" : "stco") { box in
            box.u32(UInt32(places.count))
            for place in places {
                if isLarge { box.u64(UInt64(place)) } else { box.u32(UInt32(truncatingIfNeeded: place)) }
            }
        }
    }
}
