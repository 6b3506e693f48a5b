import Foundation
import LibAV
import MediaTypes
import Synchronization

/// Tones of scripted publishers: AAC frames of a sine, in a loop.
enum ScriptedTone {
    private typealias Clip = (configuration: [UInt8], frames: [CodedPacket])

    static let sampleRate: Int64 = 48_000
    /// Samples per frame.
    static let length = Int64(AudioEncoder.frameLength)
    /// Frames after which a tone of a multiple of 0.625 Hz repeats.
    private static let period = 75
    /// As a fraction of full scale, like FFmpeg's sine.
    static let amplitude: Float = 0.125
    /// Each tone is encoded once per process.
    private static let clips = Mutex<[Int: Clip]>([:])

    private static func clip(_ hertz: Int) throws -> Clip {
        if let clip = self.clips.withLock({ $0[hertz] }) { return clip }
        let clip = try self.encode(hertz)
        return self.clips.withLock { clips in
            clips[hertz] = clips[hertz] ?? clip
            return clips[hertz] ?? clip
        }
    }

    /// The second of three periods, in which the encoder has settled.
    private static func encode(_ hertz: Int) throws -> Clip {
        let encoder = try AudioEncoder.open(sampleRate: Int(self.sampleRate), bitrate: 96_000, place: "test")
        var packets: [CodedPacket] = []
        for frame in 0..<Int64(3 * self.period) {
            let samples = (frame * self.length..<(frame + 1) * self.length).flatMap { index -> [Float] in
                let turns = Double(index * Int64(hertz)).truncatingRemainder(dividingBy: Double(self.sampleRate))
                let value = self.amplitude * Float(sin(2 * Double.pi * turns / Double(self.sampleRate)))
                return [value, value]
            }
            try encoder.encode(samples[...], pts: frame * self.length) { packets.append($0) }
        }
        let frames = Array(packets.dropFirst(self.period).prefix(self.period))
        guard frames.count == self.period else {
            throw MediaError(.internal, "\(packets.count) frames", at: "test", fix: "look at it")
        }
        return (encoder.configuration, frames)
    }

    static func configuration(_ hertz: Int, track: UInt8) throws -> CodecParameters {
        var parameters = CodecParameters(codec: .aac, configuration: try self.clip(hertz).configuration)
        parameters.track = track
        return parameters
    }

    /// Frame `index` of a publication, as it would arrive over RTMP.
    ///
    /// - Parameter arrival: Time on the machine's clock.
    static func packet(_ index: Int64, _ hertz: Int, track: UInt8, arrival: Int64) throws -> CodedPacket {
        var packet = try self.clip(hertz).frames[Int(index) % self.period]
        packet.pts = index * self.length * 1_000 / self.sampleRate
        packet.dts = packet.pts
        packet.duration = 0
        packet.timescale = 1_000
        packet.arrival = arrival
        packet.track = track
        return packet
    }
}
