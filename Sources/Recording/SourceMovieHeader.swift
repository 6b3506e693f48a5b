import HLS
import MediaTypes

/// Writes what precedes and follows the fragments of a source's recording: `ftyp` and `moov`, and the index at the end.
///
/// Spec: ISO/IEC 14496-12 §8. The same tracks give the same bytes.
package enum SourceMovieHeader {
    /// Ticks per second of the movie: of durations and of the edit lists' empty edits.
    package static let timescale: Int64 = 90_000

    /// A track and its place in the file.
    struct Entry: Sendable, Hashable {
        var track: SourceMovieTrack
        /// Time from the start of the file to the track's first frame, in nanoseconds and at least 0: an empty edit.
        var delay: Int64
        /// Media time at which that frame is shown, in nanoseconds and at least 0: its reorder delay.
        var lead: Int64
    }

    /// The header of a file, and where the duration is written when the file is finished.
    struct Header: Sendable, Hashable {
        var bytes: [UInt8]
        /// Offset of a `free` box of ``SourceMovieHeader/durationSize`` bytes, which becomes `mehd`.
        var durationOffset: Int
    }

    /// Size of the box with the duration: header, version and flags, 64-bit duration.
    static let durationSize = 20

    /// Returns the header of a file.
    ///
    /// - Parameter tracks: The tracks, which get the ids 1, 2, ….
    static func header(_ tracks: [Entry]) -> Header {
        var writer = BoxWriter()
        writer.box("ftyp") { box in
            box.text("iso6")
            box.u32(0)
            for brand in ["iso6", "mp41"] { box.text(brand) }
        }
        var offset = 0
        writer.box("moov") { moov in
            moov.fullBox("mvhd") { box in
                box.zeros(8)  // creation and modification time: in the sidecar
                box.u32(UInt32(self.timescale))
                box.u32(0)  // duration: in the fragments
                box.u32(0x10000)  // rate 1
                box.u16(0x100)  // volume 1
                box.zeros(10)
                box.matrix(.upright, 0, 0)
                box.zeros(24)
                box.u32(UInt32(tracks.count) + 1)
            }
            for (index, entry) in tracks.enumerated() {
                moov.track(entry, id: UInt32(index) + 1)
            }
            moov.box("mvex") { mvex in
                offset = mvex.bytes.count
                mvex.box("free") { $0.zeros(self.durationSize - 8) }
                for id in 1...UInt32(max(1, tracks.count)) {
                    mvex.fullBox("trex") { trex in
                        trex.u32(id)
                        trex.u32(1)  // sample description
                        trex.zeros(12)  // default duration, size, flags: each fragment carries its own
                    }
                }
            }
        }
        return Header(bytes: writer.bytes, durationOffset: offset)
    }

    /// Returns the box that replaces the `free` box at ``Header/durationOffset``.
    ///
    /// - Parameter duration: Nanoseconds from the start of the file to the end of its last frame.
    static func duration(_ duration: Int64) -> [UInt8] {
        var writer = BoxWriter()
        writer.fullBox("mehd", version: 1) {
            $0.u64(
                UInt64(
                    max(0, TimeMath.rescale(duration, from: TimeMath.nanoseconds, to: self.timescale, rounding: .up))))
        }
        return writer.bytes
    }

    /// A fragment that begins with a key frame.
    package struct IndexEntry: Sendable, Hashable {
        /// Presentation time in ticks of the track.
        package var time: Int64
        /// Offset of its `moof` in the file.
        package var offset: Int64
    }

    /// Returns the index that ends a finished file, with which players seek. Spec: §8.8.9 to §8.8.11.
    static func index(track: UInt32, _ entries: [IndexEntry]) -> [UInt8] {
        guard !entries.isEmpty else { return [] }
        var writer = BoxWriter()
        writer.box("mfra") { mfra in
            mfra.fullBox("tfra", version: 1) { tfra in
                tfra.u32(track)
                tfra.u32(0)  // numbers of traf, trun and sample have one byte
                tfra.u32(UInt32(truncatingIfNeeded: entries.count))
                for entry in entries {
                    tfra.u64(UInt64(max(0, entry.time)))
                    tfra.u64(UInt64(max(0, entry.offset)))
                    for _ in 0..<3 { tfra.u8(1) }
                }
            }
            mfra.fullBox("mfro") { $0.u32(0) }
        }
        // The size of `mfra`, by which readers find it from the end of the file.
        writer.patch(UInt32(truncatingIfNeeded: writer.bytes.count), at: writer.bytes.count - 4)
        return writer.bytes
    }
}

extension BoxWriter {
    fileprivate mutating func track(_ entry: SourceMovieHeader.Entry, id: UInt32) {
        let track = entry.track
        self.box("trak") { trak in
            trak.fullBox("tkhd", flags: 3) { box in
                box.zeros(8)
                box.u32(id)
                box.zeros(4)
                box.u32(0)  // duration: in the fragments
                box.zeros(8)
                box.zeros(4)  // layer, alternate group
                box.u16(track.kind == .audio ? 0x100 : 0)
                box.zeros(2)
                box.matrix(track.orientation, track.width, track.height)
                box.u32(UInt32(UInt16(clamping: track.width)) << 16)
                box.u32(UInt32(UInt16(clamping: track.height)) << 16)
            }
            trak.box("edts") { $0.edits(entry) }
            trak.box("mdia") { mdia in
                mdia.fullBox("mdhd") { box in
                    box.zeros(8)
                    box.u32(UInt32(clamping: track.timescale))
                    box.u32(0)
                    box.u16(0x55C4)  // "und"
                    box.u16(0)
                }
                mdia.fullBox("hdlr") { box in
                    box.u32(0)
                    box.text(track.kind == .video ? "vide" : "soun")
                    box.zeros(12)
                    box.text(track.kind == .video ? "Video" : "Audio")
                    box.u8(0)
                }
                mdia.box("minf") { minf in
                    switch track.kind {
                    case .video: minf.fullBox("vmhd", flags: 1) { $0.zeros(8) }
                    case .audio: minf.fullBox("smhd") { $0.zeros(4) }
                    }
                    minf.box("dinf") { dinf in
                        dinf.fullBox("dref") { dref in
                            dref.u32(1)
                            dref.fullBox("url ", flags: 1) { _ in }
                        }
                    }
                    minf.box("stbl") { stbl in
                        stbl.fullBox("stsd") { stsd in
                            stsd.u32(1)
                            stsd.raw(track.entry)
                        }
                        stbl.fullBox("stts") { $0.u32(0) }
                        stbl.fullBox("stsc") { $0.u32(0) }
                        stbl.fullBox("stsz") { $0.zeros(8) }
                        stbl.fullBox("stco") { $0.u32(0) }
                    }
                }
            }
        }
    }

    /// Writes an edit list: an empty edit until the track begins, then all of its media from its first frame. Spec: §8.6.6.
    /// A duration of 0 means all media of the fragments.
    private mutating func edits(_ entry: SourceMovieHeader.Entry) {
        let empty = TimeMath.rescale(entry.delay, from: TimeMath.nanoseconds, to: SourceMovieHeader.timescale)
        let lead = TimeMath.rescale(entry.lead, from: TimeMath.nanoseconds, to: entry.track.timescale)
        self.fullBox("elst") { elst in
            elst.u32(empty > 0 ? 2 : 1)
            if empty > 0 {
                elst.u32(UInt32(clamping: empty))
                elst.u32(0xFFFF_FFFF)
                elst.u32(0x10000)
            }
            elst.u32(0)
            elst.u32(UInt32(clamping: lead))
            elst.u32(0x10000)
        }
    }

    /// Writes the transformation matrix of §8.2.2, which turns the frame clockwise and mirrors it.
    fileprivate mutating func matrix(_ orientation: VideoOrientation, _ width: Int, _ height: Int) {
        let turns: [(a: Int64, b: Int64, c: Int64, d: Int64)] = [
            (1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0),
        ]
        var (a, b, c, d) = turns[orientation.quarterTurns & 3]
        if orientation.isMirrored { (a, b) = (0 - a, 0 - b) }
        // Moves what is turned to negative coordinates back.
        let (w, h) = (Int64(UInt16(clamping: width)), Int64(UInt16(clamping: height)))
        let x = (a < 0 ? w : 0) + (c < 0 ? h : 0)
        let y = (b < 0 ? w : 0) + (d < 0 ? h : 0)
        for value in [a, b, 0, c, d, 0, x, y] { self.u32(UInt32(truncatingIfNeeded: value << 16)) }
        self.u32(0x4000_0000)
    }
}
