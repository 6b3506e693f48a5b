package import LibAV
package import MediaTypes

/// Decodes single key frames, apart from a source's own decoder. It opens a decoder for each frame.
package enum KeyFrameDecoder {
    /// Decodes a key frame and converts it like the frames of a scene: upright and in the canvas's colors. Its sample
    /// aspect ratio is not changed.
    ///
    /// A crash of the decoder is recorded like one of the source's own decoder (``DecoderMark``), if the calling thread
    /// runs on a guarded stack.
    ///
    /// - Parameters:
    ///   - rotation: The operator's rotation in quarter turns clockwise.
    ///   - maxPixels: Larger frames are refused.
    ///   - skipsLoopFilter: Whether the decoder leaves out the loop filter, which is faster and leaves block edges.
    /// - Throws: ``MediaError/Code/invalidData`` if the packet yields no frame; errors of the decoder and the conversion.
    package static func picture(
        of packet: CodedPacket, _ parameters: CodecParameters, source: SourceID, rotation: Int, maxPixels: Int64,
        skipsLoopFilter: Bool
    ) throws(MediaError) -> Picture {
        let place = "still[\(source)]"
        let mark = CrashMark(DecoderMark.line(source, parameters.codec))
        mark.raise()
        defer { mark.lower() }
        var track = VideoTrack(
            settings: VideoTrack.Settings(threads: 1, maxPixels: maxPixels, holdsDamaged: false, place: place))
        if let error = track.configure(parameters, rotation: rotation).failure { throw error }
        let outcome = track.decode(packet, rotation: rotation, skipsLoopFilter: skipsLoopFilter)
        let rest = track.finish(rotation: rotation)
        if let picture = outcome.frames.first ?? rest.frames.first { return picture }
        throw outcome.failure ?? rest.failure
            ?? MediaError(
                .invalidData, "the last key frame cannot be decoded", at: place, fix: "wait for the next key frame")
    }
}
