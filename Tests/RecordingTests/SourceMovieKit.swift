import Foundation
import MediaKernels
import MediaTypes
import Recording

/// Packets and files for the tests of sources' own recordings.
enum SourceMovieKit {
    /// A configuration of H.264, 64×48.
    static let avc = CodecParameters(
        codec: .h264,
        configuration: bytes(hex: "0142c00affe100156742c00ada11ec0440000003004000000f03c489a801000468ce0fc8"))
    /// AAC-LC, 48 kHz, stereo.
    static let aac = CodecParameters(codec: .aac, configuration: [0x11, 0x90])
    static let second: Int64 = 1_000_000_000

    static func bytes(hex: String) -> [UInt8] {
        let digits = hex.utf8.compactMap(\.hexadecimalValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// A frame filled with the low byte of its decoding time in milliseconds.
    static func sample(
        _ kind: TrackKind, dts: Int64, pts: Int64? = nil, isKey: Bool = true, size: Int = 16, track: UInt8 = 0
    ) -> SourceSample {
        let memory = PacketMemory([UInt8](repeating: UInt8(truncatingIfNeeded: dts / 1_000_000), count: size))
        var packet = CodedPacket(
            kind: kind, memory: memory, pts: 0, dts: 0, timescale: 1_000, isKey: isKey, arrival: dts)
        packet.track = track
        return SourceSample(packet, pts: pts ?? dts, dts: dts)
    }

    /// What a fragmenter has made: files with all their bytes.
    struct Files {
        var files: [(header: Int, bytes: [UInt8], parts: [Int], facts: SourceMovieFacts)] = []
        var ends: [SourceMovieFacts.End] = []
        var skipped: [SourceMovieFacts.Skipped] = []

        mutating func perform(_ actions: [SourceMovieFragmenter.Action]) {
            for action in actions {
                switch action {
                case .open(let facts, let header, _): self.files.append((header.count, header, [], facts))
                case .write(let memory, _, let facts):
                    self.files[self.files.count - 1].parts.append(memory.count)
                    self.files[self.files.count - 1].bytes += memory.bytes(in: 0..<memory.count)
                    self.files[self.files.count - 1].facts = facts
                case .close(let facts, let reason):
                    self.files[self.files.count - 1].facts = facts
                    self.ends.append(reason)
                case .skipped(let track): self.skipped.append(track)
                }
            }
        }

        func scan(_ index: Int) -> SourceMovieScan { SourceMovieKit.scan(self.files[index].bytes) }
    }

    static func scan(_ bytes: [UInt8]) -> SourceMovieScan {
        SourceMovieScan(size: Int64(bytes.count)) { range in
            Array(bytes[Int(range.lowerBound)..<min(bytes.count, Int(range.upperBound))])
        }
    }

    /// A frame in a file.
    struct Row: Equatable {
        var dts: Int64
        var pts: Int64
        var duration: Int64
        var isKey: Bool
    }

    /// The frames of a track, with times in ticks of its media time.
    static func rows(_ bytes: [UInt8], track: UInt32) -> [Row] {
        let reader = BoxReader(bytes: bytes)
        var rows: [Row] = []
        for moof in reader.boxes(in: 0..<bytes.count) ?? [] where moof.type == "moof" {
            guard let tfhd = reader.first(["traf", "tfhd"], in: moof.body),
                reader.u32(tfhd.body.lowerBound + 4) == track,
                let tfdt = reader.first(["traf", "tfdt"], in: moof.body),
                let trun = reader.first(["traf", "trun"], in: moof.body),
                let time = reader.u64(tfdt.body.lowerBound + 4), let flags = reader.u32(trun.body.lowerBound)
            else { continue }
            let isFull = flags & 0xF00 == 0xF00
            var dts = Int64(time)
            for field in stride(from: trun.body.lowerBound + 12, to: trun.body.upperBound, by: isFull ? 16 : 8) {
                let duration = Int64(reader.u32(field) ?? 0)
                let offset = isFull ? Int64(Int32(bitPattern: reader.u32(field + 12) ?? 0)) : 0
                let isKey = !isFull || (reader.u32(field + 8) ?? 0) & 0x1_0000 == 0
                rows.append(Row(dts: dts, pts: dts + offset, duration: duration, isKey: isKey))
                dts += duration
            }
        }
        return rows
    }

    /// The edits of each track: duration in ticks of the movie and media time; −1 for an empty edit.
    static func edits(_ bytes: [UInt8]) -> [[[Int64]]] {
        let reader = BoxReader(bytes: bytes)
        guard let moov = reader.first(["moov"], in: 0..<bytes.count) else { return [] }
        return (reader.boxes(in: moov.body) ?? []).filter { $0.type == "trak" }.map { trak in
            guard let elst = reader.first(["edts", "elst"], in: trak.body),
                let count = reader.u32(elst.body.lowerBound + 4)
            else { return [] }
            return (0..<Int(count)).map { index in
                let field = elst.body.lowerBound + 8 + index * 12
                return [
                    Int64(reader.u32(field) ?? 0), Int64(Int32(bitPattern: reader.u32(field + 4) ?? 0)),
                ]
            }
        }
    }
}
