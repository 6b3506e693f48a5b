import CLibAV
package import MediaTypes

extension VideoEncoder {
    /// Opens a hardware encoder.
    ///
    /// - Throws: ``MediaError/Code/unavailable`` if FFmpeg lacks the encoder, or if the driver or the device does not
    ///   open; ``MediaError/Code/outOfMemory``.
    static func openHardware(_ settings: VideoEncoderSettings, place: String) throws(MediaError) -> VideoEncoder {
        let (implementation, name) = (settings.implementation, settings.implementation.rawValue)
        let otherwise = ", or write \"encoder\": \"libx264\""
        guard let codec = unsafe avcodec_find_encoder_by_name(name) else {
            throw MediaError(
                .unavailable, "this FFmpeg has no \(name)", at: place,
                fix: "install an FFmpeg built with \(name) (Debian's is)\(otherwise)")
        }
        let fix = implementation.remedy + otherwise
        let slot = try PacketSlot.open(place: place)
        let upload =
            implementation.usesNV12 ? try HardwareFrames.open(settings, fix: fix, place: place) : nil
        guard let context = unsafe avcodec_alloc_context3(codec) else {
            throw MediaError(
                .outOfMemory, "there is no memory for an encoder", at: place, fix: "give the room more memory")
        }
        var spare: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        unsafe context.pointee.width = Int32(settings.width)
        unsafe context.pointee.height = Int32(settings.height)
        unsafe context.pointee.time_base = AVRational(num: 1, den: Int32(settings.fps))
        unsafe context.pointee.framerate = AVRational(num: Int32(settings.fps), den: 1)
        unsafe context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        unsafe context.pointee.pix_fmt = upload?.format ?? AV_PIX_FMT_YUV420P
        unsafe context.pointee.hw_frames_ctx = upload?.makePoolReference()
        unsafe context.pointee.flags |= Int32(CLIBAV_CODEC_FLAG_GLOBAL_HEADER)
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        for (name, value) in settings.hardwareOptions { unsafe av_dict_set(&options, name, value, 0) }
        let status = unsafe avcodec_open2(context, codec, &options)
        guard status >= 0 else {
            unsafe avcodec_free_context(&spare)
            throw .libav(
                .unavailable, "\(name) does not open for \(settings.width)x\(settings.height)", status, at: place,
                fix: fix)
        }
        let encoder = unsafe VideoEncoder(
            owning: context, slot: slot, timescale: Int32(clamping: Int64(settings.fps) * Self.ticksPerPicture),
            place: place, upload: upload, isOrdered: true)
        guard !encoder.parameterSets.isEmpty else {
            throw MediaError(
                .unavailable, "\(name) does not tell its parameter sets before the first frame", at: place, fix: fix)
        }
        return encoder
    }
}

extension LibAV {
    /// Opens an encoder of this kind and closes it again, to find out whether the machine has what it needs.
    ///
    /// - Returns: Why it does not open; `nil` if it does.
    package static func problem(of implementation: H264Implementation) -> MediaError? {
        var settings = VideoEncoderSettings(
            width: 640, height: 360, fps: 30, preset: "veryfast", profile: "high", bitrate: 700_000,
            maxBitrate: 770_000, bufferSize: 770_000, bFrames: 0, lookaheadFrames: 0, threads: 1)
        settings.implementation = implementation
        do throws(MediaError) {
            _ = try VideoEncoder.open(settings, place: implementation.rawValue)
            return nil
        } catch { return error }
    }
}
