import HLS
import MediaKernels
import MediaTypes

#if canImport(Glibc)
    import Glibc
#endif

/// Generated packets and segments for the suites.
enum Make {
    static func grid(fps: Int = 30) throws -> OutputGrid { try OutputGrid(fps: fps) }

    /// A frame whose bytes identify it.
    static func picture(_ frame: Int64, dts: Int64? = nil, key: Bool, size: Int = 40, timescale: Int32 = 30)
        -> CodedPacket
    {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: Int(frame) &+ $0) }
        return CodedPacket(
            kind: .video, memory: PacketMemory(bytes), pts: frame, dts: dts ?? frame, timescale: timescale, isKey: key)
    }

    static func audioPacket(_ pts: Int64, size: Int = 20, duration: Int64 = 1024) -> CodedPacket {
        CodedPacket(
            kind: .audio, memory: PacketMemory([UInt8](repeating: UInt8(truncatingIfNeeded: pts >> 10), count: size)),
            pts: pts, dts: pts, duration: duration, timescale: 48_000, isKey: true)
    }

    static func segment(
        _ sequence: Int64, start: Int64, ticks: Int64 = 64, timescale: Int32 = 30, origin: Int64 = 0,
        map: String = "v-1.mp4", discontinuity: Bool = false, key: SegmentKey? = nil, gap: Bool = false
    ) -> Segment {
        Segment(
            mediaSequence: sequence, uri: "v-1-\(sequence).m4s", start: start,
            duration: MediaDuration(ticks: ticks, timescale: timescale),
            programDate: origin + TimeMath.rescale(start, from: Int64(timescale), to: 1_000_000_000),
            map: InitializationSegment(uri: map), discontinuity: discontinuity, key: key, gap: gap, byteCount: 1000)
    }
}

extension [TrackSegmenter.Output] {
    var segments: [FinishedSegment] {
        self.compactMap { if case .segment(let segment) = $0 { segment } else { nil } }
    }
    var parts: [FinishedPart] { self.compactMap { if case .part(let part) = $0 { part } else { nil } } }
}
