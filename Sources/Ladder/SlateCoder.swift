package import LibAV
import MediaKernels
package import MediaTypes
import Synchronization

/// Codes what stands in for a time in which no worker was there: one picture that does not move, and silence.
///
/// The very workers of a ladder code it, with the same settings, so that its packets fit the initialization segments of
/// the ladder and can be stamped again for any number of places on the grid.
package enum SlateCoder {
    /// Blocks of silence that are coded; the first of them still carry the encoder's start.
    private static let silentBlocks: Int64 = 6

    /// - Parameters:
    ///   - picture: A canvas.
    ///   - frames: Pictures of the canvas that are coded; the first alone is an IDR picture.
    ///   - ladder: Its settings count, and the slate gets the same parameters.
    /// - Returns: For each track of the ladder, in its order: pictures in decoding order from tick 0 on; of sound one frame
    ///   of silence.
    /// - Throws: What the encoders say, and ``MediaError/Code/internal`` where they would not write the same
    ///   initialization segment.
    package static func code(
        _ picture: Picture, frames: Int, like ladder: LadderStage
    ) throws(MediaError) -> [[CodedPacket]] {
        var settings = ladder.settings
        settings.isOffline = true
        settings.gopFrames = frames
        let coded = Mutex<[Int: [CodedPacket]]>([:])
        let failure = Mutex<MediaError?>(nil)
        let stage = try LadderStage.open(
            rungs: ladder.rungs, settings: settings,
            output: LadderStage.Output(
                packet: { track, packet in coded.withLock { $0[track, default: []].append(packet) } },
                finished: { _ in }, failed: { error in failure.withLock { $0 = $0 ?? error } }))
        let silence = [Float](repeating: 0, count: AudioEncoder.frameLength * 2)
        for block in 0..<Self.silentBlocks {
            stage.put(sound: silence, position: block * Int64(AudioEncoder.frameLength))
        }
        for tick in 0..<frames { _ = stage.put(picture, tick: Int64(tick)) }
        stage.finish()
        if let error = failure.withLock({ $0 }) { throw error }
        guard stage.parameters == ladder.parameters else {
            throw MediaError(
                .internal, "the slate's encoders are not the ladder's", at: "slate", fix: "report this")
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
