package import LibAV
package import MediaTypes
import Synchronization

/// Encodes slate, which fills times without media, such as those in which no worker was running: one still frame, and
/// silence.
///
/// It uses the same kind of threads and the same settings as the ladder, so that its packets fit the ladder's
/// initialization segments and can get the timestamps of any position on the GOP grid. Hardware encoders are left to the
/// ladder.
package enum SlateEncoder {
    /// Number of silent blocks that are encoded; the first ones contain the encoder's priming.
    private static let silentBlocks: Int64 = 6

    /// Encodes a still frame and silence.
    ///
    /// - Parameters:
    ///   - picture: A canvas.
    ///   - frames: Number of frames to encode; only the first is an IDR frame.
    ///   - ladder: The ladder whose settings and parameters are used.
    /// - Returns: For each track of the ladder, in order: video packets in decoding order from tick 0 on; for audio,
    ///   one frame of silence.
    /// - Throws: An error of an encoder, or ``MediaError/Code/internal`` if the encoders' parameters differ from the
    ///   ladder's.
    package static func code(
        _ picture: Picture, frames: Int, like ladder: EncodingStage
    ) throws(MediaError) -> [[CodedPacket]] {
        var settings = ladder.settings
        settings.isOffline = true
        settings.limiter = nil
        settings.gopFrames = frames
        settings.opening = nil
        let coded = Mutex<[Int: [CodedPacket]]>([:])
        let failure = Mutex<MediaError?>(nil)
        let stage = try EncodingStage.open(
            renditions: ladder.softwareRenditions, settings: settings,
            output: EncodingStage.Output(
                packet: { track, packet in coded.withLock { $0[track, default: []].append(packet) } },
                finished: { _ in }, failed: { error in failure.withLock { $0 = $0 ?? error } }))
        let silence = [Float](repeating: 0, count: AudioEncoder.frameLength * 2)
        for block in 0..<Self.silentBlocks {
            stage.put(audio: silence, position: block * Int64(AudioEncoder.frameLength))
        }
        for tick in 0..<frames { _ = stage.put(picture, tick: Int64(tick)) }
        stage.finish()
        if let error = failure.withLock({ $0 }) { throw error }
        guard stage.parameters == ladder.softwareParameters else {
            throw MediaError(
                .internal, "the slate's encoder parameters differ from the renditions'", at: "slate",
                fix: "report this error with the log")
        }
        return coded.withLock { coded in
            ladder.parameters.indices.map { track in
                let packets = coded[track] ?? []
                guard packets.first?.kind == .audio else { return packets }
                return packets.dropFirst(Int(Self.silentBlocks) / 2).first.map { [$0] } ?? []
            }
        }
    }
}
