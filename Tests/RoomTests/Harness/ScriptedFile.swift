import Foundation
import MediaTypes
import RTMP

/// An FLV file with the frames of scripted publishers, for offline jobs.
enum ScriptedFile {
    /// Spec: Video File Format Specification 10.1, Annex E.2: version 1, video only, and a previous tag size of 0
    /// before the first tag.
    private static let header: [UInt8] = Array("FLV".utf8) + [1, 1, 0, 0, 0, 9, 0, 0, 0, 0]

    static func write(_ path: String, seconds: Int64, _ appearance: ScriptedClip.Appearance = .dark) throws {
        let configuration = try appearance.clip.configuration
        var bytes = Self.header + (FLVTagWriter.configuration(configuration).map { Self.tag($0) } ?? [])
        for index in 0..<seconds * ScriptedClip.fps {
            guard case .packet(let packet) = try ScriptedClip.packet(index, appearance, arrival: 0) else { continue }
            bytes += FLVTagWriter.packet(packet, codec: configuration.codec).map { Self.tag($0) } ?? []
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Spec: Video File Format Specification 10.1, Annex E.4.1.
    private static func tag(_ message: RTMPMediaMessage) -> [UInt8] {
        func big(_ value: UInt32, _ count: UInt32) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }
        let body = message.payload.bytes
        let head = [9] + big(UInt32(body.count), 3) + big(message.timestamp & 0xFF_FFFF, 3)
        return head + big(message.timestamp >> 24, 1) + big(0, 3) + body + big(UInt32(body.count + 11), 4)
    }
}
