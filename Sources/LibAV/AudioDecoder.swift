import CLibAV
import MediaKernels
package import MediaTypes

/// Decoded audio in the program's format: 32-bit float, interleaved stereo, at the program's sample rate.
package struct SampleBlock: Sendable {
    /// Time of the first sample in ticks of the packets' timescale; `nil` if the packet had none.
    package var pts: Int64?
    /// Left, right, left, right …; nominal range −1…1.
    package var samples: [Float]
    /// Number of sample pairs.
    package var frames: Int { self.samples.count / 2 }
}

/// An audio decoder followed by a resampler. Created, used and released on one stage thread.
///
/// If the sample rate or the channels of the stream change, the resampler is rebuilt without effect downstream: the new
/// audio begins where the old one stopped, without a click.
@safe
package final class AudioDecoder {
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let slot: PacketSlot
    private let place: String
    private let sampleRate: Int32
    /// Channel layout given by the container; `nil`: that of the decoded frames is used.
    private let layout: ChannelLayout?
    private var resampler: Resampler?
    /// Resampled audio of the current block; the array is reused.
    private var samples: [Float] = []
    /// The last sample pair that was output, by this decoder or the decoder that it follows.
    private var last: SIMD2<Float>?
    /// Whether the next block does not continue the previous one, so that the step between them must be smoothed.
    private var isJoining = true
    /// Number of pairs over which a step at a change of format is smoothed: 5 ms at 48 kHz.
    private static let joinPairs = 240

    /// Opens a decoder.
    ///
    /// - Parameters:
    ///   - sampleRate: The program's sample rate in hertz, which ``decode(_:_:)`` outputs.
    ///   - place: Names the stage in errors and logs.
    ///   - previous: The decoder that this one follows without a gap, when the format of the stream has changed.
    /// - Throws: ``MediaError/Code/unavailable``, ``MediaError/Code/rejected``, ``MediaError/Code/outOfMemory``.
    package static func open(
        _ parameters: CodecParameters, sampleRate: Int, place: String, following previous: AudioDecoder? = nil
    ) throws(MediaError) -> AudioDecoder {
        let slot = try PacketSlot.open(place: place)
        guard let frame = unsafe av_frame_alloc() else {
            throw MediaError(
                .outOfMemory, "there is no memory for a decoder", at: place, fix: "give the room more memory")
        }
        let context: UnsafeMutablePointer<AVCodecContext>
        do {
            unsafe context = try CodecContext.allocateDecoder(parameters, place: place)
        } catch {
            var spent: UnsafeMutablePointer<AVFrame>? = unsafe frame
            unsafe av_frame_free(&spent)
            throw error
        }
        let decoder = unsafe AudioDecoder(
            owning: context, frame: frame, slot: slot, sampleRate: Int32(sampleRate),
            layout: parameters.layout, place: place)
        unsafe context.pointee.thread_count = 1
        let status = unsafe avcodec_open2(context, nil, nil)
        guard status >= 0 else {
            throw .libav(
                .rejected, "\(parameters.codec) decoder did not open", status, at: place,
                fix: "check the encoder's stream; its configuration record is broken")
        }
        decoder.last = previous?.last
        return decoder
    }

    private init(
        owning context: UnsafeMutablePointer<AVCodecContext>, frame: UnsafeMutablePointer<AVFrame>,
        slot: consuming PacketSlot, sampleRate: Int32, layout: ChannelLayout?, place: String
    ) {
        unsafe self.context = context
        unsafe self.frame = frame
        self.slot = slot
        self.sampleRate = sampleRate
        self.layout = layout
        self.place = place
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&context)
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe self.frame
        unsafe av_frame_free(&frame)
    }

    /// Decodes one packet and passes the samples that are ready to `body`. In the long run only libav allocates, if
    /// `body` keeps no block.
    ///
    /// - Returns: `false` if the packet is empty, libavcodec found its data damaged, or the samples could not be
    ///   resampled.
    package func decode(_ packet: CodedPacket, _ body: (SampleBlock) -> Void) -> Bool {
        guard self.slot.lend(packet) else { return false }
        var intact = unsafe avcodec_send_packet(self.context, self.slot.raw) >= 0
        unsafe av_packet_unref(self.slot.raw)
        while true {
            let status = unsafe avcodec_receive_frame(self.context, self.frame)
            guard status >= 0 else {
                if status != CLIBAV_ERROR_AGAIN, status != CLIBAV_ERROR_EOF { intact = false }
                return intact
            }
            let pts = unsafe self.frame.pointee.pts
            guard self.resample() else {
                intact = false
                continue
            }
            body(SampleBlock(pts: pts == CLIBAV_NO_TIMESTAMP ? nil : pts, samples: self.samples))
        }
    }

    /// Converts the decoded frame to ``samples``.
    private func resample() -> Bool {
        let shape = unsafe Resampler.Shape(self.frame.pointee)
        if self.resampler?.shape != shape {
            self.resampler = try? Resampler.open(
                from: shape, to: self.sampleRate, layout: self.layout, place: self.place)
            self.isJoining = true
        }
        guard let resampler = self.resampler, unsafe resampler.convert(self.frame, into: &self.samples) else {
            return false
        }
        let count = self.samples.count
        guard count >= 2 else { return true }
        if self.isJoining, let last = self.last { AudioMix.join(&self.samples, after: last, pairs: Self.joinPairs) }
        self.isJoining = false
        self.last = SIMD2(self.samples[count - 2], self.samples[count - 1])
        return true
    }
}
