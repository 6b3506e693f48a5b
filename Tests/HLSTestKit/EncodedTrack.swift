package import Foundation
import MediaKernels
package import MediaTypes

/// Packets of H.264 or of AAC-LC with 48 kHz and two channels, encoded by ffmpeg and read from its MP4 file at the
/// positions that ffprobe reports.
package struct EncodedTrack: Sendable {
    package let parameters: CodecParameters
    package let packets: [CodedPacket]

    package static func encode(
        _ kind: TrackKind, source: String, encoder: [String], in folder: URL, ffmpeg: Tool, ffprobe: Tool
    ) throws -> EncodedTrack {
        let file = folder.appendingPathComponent("\(UUID().uuidString).mp4").path
        let encoding = try ffmpeg.run(["-v", "error", "-f", "lavfi", "-i", source] + encoder + [file])
        guard encoding.code == 0 else { throw Unusable(reason: encoding.errors) }
        let listing = try ffprobe.run([
            "-v", "error", "-show_entries", "packet=pts,dts,size,pos,flags:stream=time_base", "-of", "json", file,
        ])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        let probe = try JSONDecoder().decode(Probe.self, from: Data(listing.output.utf8))
        let timescale = try Self.require(
            probe.streams.first?.time_base.split(separator: "/").last.flatMap { Int32($0) })
        let packets = try probe.packets.map { entry in
            let position = try Self.require(Int(entry.pos))
            let size = try Self.require(Int(entry.size))
            return CodedPacket(
                kind: kind, memory: PacketMemory(Array(bytes[position..<(position + size)])), pts: entry.pts,
                dts: entry.dts, timescale: timescale, isKey: entry.flags.hasPrefix("K"))
        }
        let configuration = kind == .video ? try Self.box("avcC", in: bytes) : [0x11, 0x90]
        return EncodedTrack(
            parameters: CodecParameters(codec: kind == .video ? .h264 : .aac, configuration: configuration),
            packets: packets)
    }

    /// The content of the first box of this type.
    private static func box(_ type: String, in bytes: [UInt8]) throws -> [UInt8] {
        let code = Array(type.utf8)
        let at = try Self.require((4..<(bytes.count - 4)).first { Array(bytes[$0..<($0 + 4)]) == code })
        let size = bytes[(at - 4)..<at].reduce(0) { $0 << 8 | Int($1) }
        return Array(bytes[(at + 4)..<(at - 4 + size)])
    }

    /// ffmpeg failed, or its file or ffprobe's report lacks something.
    package struct Unusable: Error { package let reason: String }

    private static func require<T>(_ value: T?) throws -> T {
        guard let value else { throw Unusable(reason: "a field is missing") }
        return value
    }

    private struct Probe: Decodable {
        struct Packet: Decodable {
            let pts: Int64
            let dts: Int64
            let size: String
            let pos: String
            let flags: String
        }
        struct Stream: Decodable { let time_base: String }
        let packets: [Packet]
        let streams: [Stream]
    }
}
