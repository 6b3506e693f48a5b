import CLibAV
import MediaKernels
import MediaTypes

/// Converts decoded audio of one format to interleaved float stereo at one rate.
@safe
final class Resampler {
    /// The input format, which must stay the same for one resampler.
    struct Shape: Equatable {
        var rate: Int32
        var format: Int32
        var channels: Int32
        /// Channel positions as a mask of `AV_CH_…` bits, which also gives the order of the channels; 0: unknown.
        var mask: UInt64

        init(_ frame: AVFrame) {
            unsafe self.rate = frame.sample_rate
            unsafe self.format = frame.format
            unsafe self.channels = frame.ch_layout.nb_channels
            let isNative = unsafe frame.ch_layout.order == AV_CHANNEL_ORDER_NATIVE
            self.mask = unsafe isNative ? frame.ch_layout.u.mask : 0
        }
    }

    let shape: Shape
    private let context: OpaquePointer
    private let outputRate: Int32

    /// Opens a resampler for one input format.
    ///
    /// - Parameter layout: Channel positions according to the container, used if the number of channels is equal.
    static func open(
        from shape: Shape, to rate: Int32, layout: ChannelLayout? = nil, place: String
    ) throws(MediaError) -> Resampler {
        guard shape.rate >= 8_000, shape.rate <= 192_000, (1...8).contains(shape.channels) else {
            throw MediaError(
                .rejected, "audio with \(shape.rate) Hz and \(shape.channels) channels is not supported", at: place,
                fix: "publish 8 to 192 kHz and at most 8 channels")
        }
        let said = layout?.speakers.count == Int(shape.channels) ? layout : nil
        do throws(MediaError) {
            return try self.open(shape, rate, shares: shape.channels == 1 ? [1, 1] : said.map(DownMix.stereo), place)
        } catch {
            // The library can downmix layouts with a front pair or a center channel; others need explicit coefficients.
            guard said == nil, let layout = ChannelLayout(mask: shape.mask) else { throw error }
            return try self.open(shape, rate, shares: DownMix.stereo(layout), place)
        }
    }

    /// Opens a resampler with given or default downmix coefficients.
    ///
    /// - Parameter shares: Downmix coefficient of each channel for left, then for right; `nil`: libswresample's own.
    private static func open(
        _ shape: Shape, _ rate: Int32, shares: [Double]?, _ place: String
    ) throws(MediaError) -> Resampler {
        var input = unsafe AVChannelLayout()
        var output = unsafe AVChannelLayout()
        unsafe av_channel_layout_default(&input, shape.channels)
        unsafe av_channel_layout_default(&output, 2)
        // A mask is a value: nothing in these layouts has to be freed.
        if shape.mask != 0, shares == nil { unsafe av_channel_layout_from_mask(&input, shape.mask) }
        var context: OpaquePointer?
        var status = unsafe swr_alloc_set_opts2(
            &context, &output, AV_SAMPLE_FMT_FLT, rate, &input, AVSampleFormat(shape.format), shape.rate, 0, nil)
        guard status >= 0, let made = unsafe context else {
            throw .libav(
                .rejected, "cannot create a resampler for this audio", status, at: place,
                fix: "publish AAC, 44.1 or 48 kHz, mono or stereo")
        }
        let resampler = unsafe Resampler(owning: made, shape: shape, outputRate: rate)
        // A mono channel goes to both sides unchanged. The library would lower it by 3 dB, as a center channel, and a
        // microphone that changes from stereo to mono would become quieter.
        if let shares, shares.count == 2 * Int(shape.channels) { unsafe swr_set_matrix(made, shares, shape.channels) }
        status = unsafe swr_init(made)
        guard status >= 0 else {
            throw .libav(
                .rejected, "cannot start a resampler for this audio", status, at: place,
                fix: "publish AAC, 44.1 or 48 kHz, mono or stereo")
        }
        return resampler
    }

    private init(owning context: OpaquePointer, shape: Shape, outputRate: Int32) {
        unsafe self.context = context
        self.shape = shape
        self.outputRate = outputRate
    }

    deinit {
        var context: OpaquePointer? = unsafe self.context
        unsafe swr_free(&context)
    }

    /// Replaces the content of `samples` by the audio that the resampler still held and that of `frame`, as interleaved
    /// stereo without NaN or infinity. Does not allocate once `samples` has the capacity.
    ///
    /// - Returns: `false` if the conversion failed; `samples` is empty then.
    func convert(_ frame: UnsafeMutablePointer<AVFrame>, into samples: inout [Float]) -> Bool {
        samples.removeAll(keepingCapacity: true)
        let count = unsafe frame.pointee.nb_samples
        guard count > 0, count <= 1 << 16 else { return false }
        let capacity = unsafe swr_get_out_samples(self.context, count)
        guard capacity > 0, capacity <= 1 << 20 else { return capacity == 0 }
        samples.append(contentsOf: repeatElement(0, count: Int(capacity) * 2))
        let got = unsafe samples.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let base = buffer.baseAddress else { return 0 }
            return unsafe base.withMemoryRebound(to: UInt8.self, capacity: buffer.count * 4) { bytes in
                // `capacity` pairs of eight bytes each fit: the array was just made that long.
                var output: UnsafeMutablePointer<UInt8>? = unsafe bytes
                let input = unsafe UnsafeMutablePointer<UnsafePointer<UInt8>?>(
                    OpaquePointer(frame.pointee.extended_data))
                return unsafe swr_convert(self.context, &output, capacity, input, count)
            }
        }
        samples.removeLast(samples.count - max(0, min(samples.count, Int(got) * 2)))
        guard got >= 0 else { return false }
        AudioMix.sanitize(&samples)
        return true
    }
}
