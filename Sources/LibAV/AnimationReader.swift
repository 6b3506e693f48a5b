import CLibAV
import MediaKernels
package import MediaTypes

/// Where an animation file has its transparency.
package enum AnimationAlpha: String, Sendable, Hashable, CaseIterable {
    /// The transparency is in the frames' own alpha plane, as in WebM (VP8, VP9) and APNG; a frame without one is opaque.
    case own
    /// The transparency is in the left half of each frame, as gray levels; the colors are in the right half.
    case left
    /// The transparency is in the right half of each frame, as gray levels; the colors are in the left half.
    case right
}

extension PixelRect {
    /// Returns the largest rectangle of even size in the middle of this one with the aspect ratio of `width` by `height`, at
    /// least 2 by 2.
    package func fitting(width: Int, height: Int) -> PixelRect {
        guard width > 0, height > 0, width <= 1 << 16, height <= 1 << 16 else { return self }
        var (w, h) = (self.width, self.width * height / width)
        if h > self.height { (w, h) = (self.height * width / height, self.height) }
        (w, h) = (max(2, w & ~1), max(2, h & ~1))
        let (left, top) = ((self.width - w) / 2 & ~1, (self.height - h) / 2 & ~1)
        return PixelRect(x: self.x + max(0, left), y: self.y + max(0, top), width: w, height: h)
    }
}

/// Reads a short animation with transparency: decodes its frames, scales them for their place on the canvas, and decodes
/// its audio. Created, used and released on one thread.
///
/// Coded video waits inside the reader, so that the audio can be read ahead of it.
@safe
package final class AnimationReader {
    /// A frame in ``PictureFormat/sprite(width:height:)`` format.
    package struct Frame: Sendable {
        package var picture: Picture
        /// Time from the first frame in nanoseconds, at least 0.
        package var time: Int64
    }

    /// Largest number of samples of a frame, both halves included: that of 3840×2160.
    package static let mostSamples: Int64 = 3840 * 2160
    /// Largest number of coded frames and of their bytes that wait inside the reader.
    private static let mostWaiting = (count: 512, bytes: 8 << 20)
    /// Longest duration of one frame, in nanoseconds; longer ones in the file are shortened to this.
    private static let longestFrame: Int64 = 10_000_000_000
    /// Duration of the first frame in nanoseconds, if the file gives none.
    private static let usualFrame: Int64 = 40_000_000
    /// Largest size of an audio packet that is decoded, in bytes.
    private static let longestAudio: Int32 = 1 << 17

    private let input: UnsafeMutablePointer<AVFormatContext>
    private let codec: UnsafeMutablePointer<AVCodecContext>
    private var pool: PicturePool
    private let slot: PacketSlot
    private let place: String
    private let alpha: AnimationAlpha
    private let sampleRate: Int
    private let video: Int32
    private let audio: Int32
    private var waiting: [UnsafeMutablePointer<AVPacket>] = unsafe []
    private var waitingBytes = 0
    private var audioDecoder: AudioDecoder?
    /// Converts decoded frames; `nil`: before the first one, or because `alphaPool` is used.
    private var graph: FilterGraph?
    /// Memory for the alpha planes of frames whose halves are used in place; `nil`: `graph` is used.
    private var alphaPool: BufferPool?
    /// Format of the frames that `graph` or `alphaPool` was made for.
    private var source: PictureFormat?
    /// Rectangle of the canvas in which the frames are shown; before the first frame, the box that they are fitted into.
    package private(set) var target: PixelRect
    private var isPlaced = false
    /// Timestamp that becomes 0, in nanoseconds; `nil` before the first video packet.
    private var start: Int64?
    /// Audio from before the first video packet.
    private var early: [CodedPacket] = []
    private var isFileOver = false
    private var isDrained = false
    private var count: Int64 = 0
    private var lastTime: Int64 = -1
    private var lastDuration: Int64 = 0

    /// Time of the end of the last frame that was decoded, in nanoseconds.
    package private(set) var videoEnd: Int64 = 0
    /// Time of the end of the decoded audio, in nanoseconds; 0 without audio.
    package private(set) var audioEnd: Int64 = 0

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - box: The rectangle that the animation is fitted into; size 2…8192.
    ///   - sampleRate: Sample rate of the audio that ``read(_:)`` returns, in hertz.
    ///   - place: Names the animation in errors.
    /// - Throws: ``MediaError/Code/notReadable``, ``MediaError/Code/invalidData``, ``MediaError/Code/unavailable``,
    ///   ``MediaError/Code/rejected``, ``MediaError/Code/outOfMemory``.
    package static func open(
        path: String, alpha: AnimationAlpha, box: PixelRect, sampleRate: Int, place: String
    ) throws(MediaError) -> AnimationReader {
        let slot = try PacketSlot.open(place: place)
        let pool = try PicturePool(place: place)
        var context: UnsafeMutablePointer<AVFormatContext>?
        var status = unsafe LocalFile.open(&context, path, formats: LocalFile.animations)
        guard status >= 0, let input = unsafe context else {
            let (isMissing, isDenied) = (status == -2, status == -13)  // AVERROR(ENOENT), AVERROR(EACCES)
            let fix: String
            if isMissing {
                fix = "check the path; a relative path begins at the working directory"
            } else {
                fix = isDenied ? "let the worker's user read it" : "give a WebM, APNG or MP4 file"
            }
            throw .libav(
                isMissing || isDenied ? .notReadable : .invalidData, "cannot open \(path)", status, at: place, fix: fix)
        }
        var spare: UnsafeMutablePointer<AVFormatContext>? = unsafe input
        defer { unsafe avformat_close_input(&spare) }
        // libavformat decodes a frame if it needs more than the container says.
        try unsafe Self.checkSizes(in: input, path, place)
        status = unsafe avformat_find_stream_info(input, nil)
        let video = unsafe av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
        guard status >= 0, video >= 0, let stream = unsafe input.pointee.streams[Int(video)] else {
            throw MediaError(
                .invalidData, "\(path) has no video", at: place, fix: "give a WebM, APNG or MP4 file with video")
        }
        let (width, height) = unsafe (stream.pointee.codecpar.pointee.width, stream.pointee.codecpar.pointee.height)
        guard width > 0, height > 0, Int64(width) * Int64(height) <= Self.mostSamples else {
            throw Self.wrongSize(width, height, path, place)
        }
        let codec = try unsafe Self.openDecoder(stream, path, place)
        unsafe spare = nil
        return unsafe AnimationReader(
            input: input, codec: codec, pool: pool, slot: slot, video: video, alpha: alpha, box: box,
            sampleRate: sampleRate, place: place)
    }

    /// Refuses a file whose container says that frames are too large.
    private static func checkSizes(
        in input: UnsafeMutablePointer<AVFormatContext>, _ path: String, _ place: String
    ) throws(MediaError) {
        let count = unsafe Int(input.pointee.nb_streams)
        for index in 0..<count {
            guard let stream = unsafe input.pointee.streams[index] else { continue }
            let (width, height) = unsafe (
                stream.pointee.codecpar.pointee.width, stream.pointee.codecpar.pointee.height
            )
            guard Int64(width) * Int64(height) <= Self.mostSamples else {
                throw Self.wrongSize(width, height, path, place)
            }
        }
    }

    private static func wrongSize(_ width: Int32, _ height: Int32, _ path: String, _ place: String) -> MediaError {
        MediaError(
            .rejected, "\(path) has frames of \(width)x\(height)", at: place,
            fix: "scale the animation to the size in which it is shown; 3840x2160 is the limit")
    }

    private static func openDecoder(
        _ stream: UnsafeMutablePointer<AVStream>, _ path: String, _ place: String
    ) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
        let id = unsafe stream.pointee.codecpar.pointee.codec_id
        var codec = unsafe avcodec_find_decoder(id)
        // FFmpeg's own decoders of VP8 and VP9 ignore the alpha plane, which is a second stream in each packet.
        if let library = id == AV_CODEC_ID_VP9 ? "libvpx-vp9" : id == AV_CODEC_ID_VP8 ? "libvpx" : nil,
            unsafe av_dict_get(stream.pointee.metadata, "alpha_mode", nil, 0) != nil
        {
            unsafe codec = avcodec_find_decoder_by_name(library)
            guard unsafe codec != nil else {
                throw MediaError(
                    .unavailable, "this FFmpeg has no \(library), which decodes the transparency of \(path)", at: place,
                    fix: "install an FFmpeg built with libvpx (Debian's is), or give an APNG file")
            }
        }
        guard let codec = unsafe codec, let context = unsafe avcodec_alloc_context3(codec) else {
            throw MediaError(
                .unavailable, "there is no decoder for the video of \(path)", at: place,
                fix: "give VP9 in WebM, APNG, or H.264 in MP4")
        }
        _ = unsafe avcodec_parameters_to_context(context, stream.pointee.codecpar)
        unsafe context.pointee.thread_count = 1
        unsafe context.pointee.max_pixels = Self.mostSamples
        unsafe context.pointee.pkt_timebase = stream.pointee.time_base
        let status = unsafe avcodec_open2(context, codec, nil)
        guard status >= 0 else {
            var spent: UnsafeMutablePointer<AVCodecContext>? = unsafe context
            unsafe avcodec_free_context(&spent)
            throw .libav(
                .rejected, "the decoder for the video of \(path) did not open", status, at: place,
                fix: "give VP9 in WebM, APNG, or H.264 in MP4")
        }
        return unsafe context
    }

    private init(
        input: UnsafeMutablePointer<AVFormatContext>, codec: UnsafeMutablePointer<AVCodecContext>,
        pool: consuming PicturePool, slot: consuming PacketSlot, video: Int32,
        alpha: AnimationAlpha, box: PixelRect, sampleRate: Int, place: String
    ) {
        unsafe self.input = input
        unsafe self.codec = codec
        self.pool = pool
        self.slot = slot
        self.video = video
        self.alpha = alpha
        self.target = box
        self.sampleRate = sampleRate
        self.place = place
        let index = unsafe av_find_best_stream(input, AVMEDIA_TYPE_AUDIO, -1, -1, nil, 0)
        self.audio = index
        guard index >= 0, let stream = unsafe input.pointee.streams[Int(index)] else { return }
        let codecpar = unsafe stream.pointee.codecpar.pointee
        guard let name = unsafe CodecName(codecpar.codec_id) else { return }
        let extradata = unsafe UnsafeBufferPointer(
            start: codecpar.extradata, count: max(0, Int(codecpar.extradata_size)))
        // Without its audio, an animation is still worth playing.
        self.audioDecoder = try? AudioDecoder.open(
            CodecParameters(codec: name, configuration: unsafe [UInt8](extradata)), sampleRate: sampleRate,
            place: place)
    }

    deinit {
        while let kept = unsafe self.waiting.popLast() {
            var packet: UnsafeMutablePointer<AVPacket>? = unsafe kept
            unsafe av_packet_free(&packet)
        }
        var codec: UnsafeMutablePointer<AVCodecContext>? = unsafe self.codec
        unsafe avcodec_free_context(&codec)
        var input: UnsafeMutablePointer<AVFormatContext>? = unsafe self.input
        unsafe avformat_close_input(&input)
    }

    /// Whether the frames that were decoded last have no transparency; `nil` before the first one.
    package private(set) var isOpaque: Bool?
    /// Whether the animation has audio that can be decoded.
    package var hasAudio: Bool { self.audioDecoder != nil }
    /// Whether ``read(_:)`` would read more of the file.
    package var canRead: Bool {
        unsafe !self.isFileOver && self.waiting.count < Self.mostWaiting.count
            && self.waitingBytes < Self.mostWaiting.bytes
    }
    /// Whether ``decode(_:)`` would decode: coded frames wait, or the decoder has to be drained.
    package var canDecode: Bool { unsafe !self.waiting.isEmpty || self.isFileOver && !self.isDrained }
    /// Whether everything was read and decoded.
    package var isOver: Bool { self.isFileOver && self.isDrained }

    /// Reads one packet of the file. Passes audio to `body` as interleaved stereo, with the time of its first pair from the
    /// first video frame in nanoseconds, which may be negative; video is kept for ``decode(_:)``.
    package func read(_ body: (_ samples: [Float], _ time: Int64) -> Void) {
        unsafe av_packet_unref(self.slot.raw)
        guard unsafe av_read_frame(self.input, self.slot.raw) >= 0 else {
            self.isFileOver = true
            self.playEarly(body)
            return
        }
        let index = unsafe self.slot.raw.pointee.stream_index
        if index == self.video {
            self.keepVideo()
            self.playEarly(body)
        } else if index == self.audio, self.audioDecoder != nil, let packet = self.audioPacket() {
            if self.start == nil {
                if self.early.count < 256 { self.early.append(packet) }
            } else {
                self.play(packet, body)
            }
        }
    }

    private func keepVideo() {
        guard unsafe self.slot.raw.pointee.size > 0, let packet = unsafe av_packet_alloc() else { return }
        if self.start == nil {
            let pts = unsafe self.slot.raw.pointee.pts
            self.start = pts == CLIBAV_NO_TIMESTAMP ? 0 : self.nanoseconds(pts, of: self.video)
        }
        unsafe av_packet_move_ref(packet, self.slot.raw)
        self.waitingBytes += unsafe Int(packet.pointee.size)
        unsafe self.waiting.append(packet)
    }

    private func nanoseconds(_ ticks: Int64, of index: Int32) -> Int64 {
        guard let stream = unsafe self.input.pointee.streams[Int(index)], unsafe stream.pointee.time_base.den > 0
        else { return 0 }
        let base = unsafe stream.pointee.time_base
        return TimeMath.scale(ticks, by: Int64(base.num) * TimeMath.nanoseconds, over: Int64(base.den))
    }

    private func audioPacket() -> CodedPacket? {
        let packet = unsafe self.slot.raw.pointee
        guard unsafe packet.size > 0, unsafe packet.size <= Self.longestAudio, unsafe packet.pts != CLIBAV_NO_TIMESTAMP
        else { return nil }
        let memory = unsafe PacketMemory(copying: UnsafeRawBufferPointer(start: packet.data, count: Int(packet.size)))
        let time = unsafe self.nanoseconds(packet.pts, of: self.audio)
        return CodedPacket(kind: .audio, memory: memory, pts: time, dts: time, timescale: 1_000_000_000, isKey: true)
    }

    private func playEarly(_ body: (_ samples: [Float], _ time: Int64) -> Void) {
        guard !self.early.isEmpty, self.start != nil else { return }
        for packet in self.early { self.play(packet, body) }
        self.early = []
    }

    private func play(_ packet: CodedPacket, _ body: (_ samples: [Float], _ time: Int64) -> Void) {
        let start = self.start ?? 0
        _ = self.audioDecoder?.decode(packet) { block in
            let time = (block.pts ?? packet.pts) &- start
            self.audioEnd = max(
                self.audioEnd,
                time &+ TimeMath.scale(Int64(block.frames), by: TimeMath.nanoseconds, over: Int64(self.sampleRate)))
            body(block.samples, time)
        }
    }

    /// Decodes the next coded frame, or drains the decoder at the end of the file. Passes the finished frames to `body`, in
    /// order of their times. Damaged data is skipped.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if the frames cannot be converted, ``MediaError/Code/outOfMemory``.
    package func decode(_ body: (Frame) -> Void) throws(MediaError) {
        if unsafe self.waiting.isEmpty {
            guard self.isFileOver, !self.isDrained else { return }
            self.isDrained = true
            _ = unsafe avcodec_send_packet(self.codec, nil)
        } else {
            var packet: UnsafeMutablePointer<AVPacket>? = unsafe self.waiting.removeFirst()
            self.waitingBytes -= unsafe Int(packet?.pointee.size ?? 0)
            if let raw = unsafe packet {
                self.lastDuration = unsafe min(
                    Self.longestFrame, max(0, self.nanoseconds(raw.pointee.duration, of: self.video)))
            }
            self.pool.collect()
            _ = unsafe avcodec_send_packet(self.codec, packet)
            unsafe av_packet_free(&packet)
        }
        while unsafe avcodec_receive_frame(self.codec, self.pool.frame) >= 0 {
            let frame = unsafe self.pool.frame
            let pts = unsafe frame.pointee.best_effort_timestamp
            unsafe frame.pointee.pict_type = AV_PICTURE_TYPE_NONE
            unsafe frame.removeSideData()
            guard let picture = self.pool.picture() else {
                throw MediaError(
                    .outOfMemory, "there is no memory for a frame", at: self.place, fix: "give the room more memory")
            }
            var time = max(
                0, self.nanoseconds(pts == CLIBAV_NO_TIMESTAMP ? 0 : pts, of: self.video) &- (self.start ?? 0))
            if pts == CLIBAV_NO_TIMESTAMP || time <= self.lastTime { time = self.lastTime &+ max(1, self.lastDuration) }
            let step = self.lastTime >= 0 ? time &- self.lastTime : Self.usualFrame
            self.lastTime = time
            self.videoEnd = time &+ (self.lastDuration > 0 ? self.lastDuration : max(min(step, Self.longestFrame), 1))
            body(Frame(picture: try self.placed(picture), time: time))
        }
    }

    /// Converts a decoded frame for its place on the canvas.
    private func placed(_ picture: Picture) throws(MediaError) -> Picture {
        if self.source != picture.format {
            (self.graph, self.alphaPool, self.source) = (nil, nil, nil)
            let (text, isReady) = try self.conversion(of: picture.format)
            if isReady, self.alpha != .own, Picture.canJoin(picture.format) {
                self.alphaPool = try Picture.alphaPool(picture.format)
            } else {
                self.graph = try self.makeGraph(text, picture.format)
            }
            self.source = picture.format
        }
        if let pool = self.alphaPool {
            if let joined = try picture.joined(alphaOnRight: self.alpha == .right, in: pool) { return joined }
            // The frame's memory has no space for another plane.
            self.alphaPool = nil
            self.graph = try self.makeGraph(self.conversion(of: picture.format).text, picture.format)
        }
        // Filters with two inputs need times that rise.
        self.count &+= 1
        guard let graph = self.graph, let result = try graph.run([picture], pts: self.count).first else {
            throw MediaError(
                .internal, "the frames of an animation cannot be scaled", at: self.place,
                fix: "report this error with the log")
        }
        return try result.signalled(as: .sprite(width: self.target.width, height: self.target.height))
    }

    private func makeGraph(_ text: String, _ format: PictureFormat) throws(MediaError) -> FilterGraph {
        try FilterGraph.open(
            text, inputs: [FilterGraph.Input(label: "in", format: format)], outputs: ["out"], fps: 30,
            place: self.place)
    }

    /// Returns the text of the graph that converts frames of a format, and places the first frame.
    ///
    /// - Returns: `isReady`: whether size and colors are already those of the canvas.
    private func conversion(of format: PictureFormat) throws(MediaError) -> (text: String, isReady: Bool) {
        let isPacked = self.alpha != .own
        let width = isPacked ? format.width / 2 : format.width
        guard width > 0 else {
            throw MediaError(
                .rejected, "frames of \(format) have no two halves", at: self.place,
                fix: "remove \"alpha\", or give a file with colors and alpha side by side")
        }
        if !self.isPlaced {
            self.target = self.target.fitting(
                width: width * Int(max(1, format.sarNumerator)) / Int(max(1, format.sarDenominator)),
                height: format.height)
            self.isPlaced = true
        }
        let hasAlpha = unsafe av_pix_fmt_desc_get(AVPixelFormat(format.pixelFormat)).map {
            unsafe $0.pointee.flags & UInt64(1 << 7) != 0 || format.pixelFormat == AV_PIX_FMT_PAL8.rawValue
        }
        self.isOpaque = !isPacked && hasAlpha != true
        let size = "\(self.target.width):\(self.target.height)"
        // PNG images have full range, also gray ones, which do not signal it.
        let isPNG = unsafe self.codec.pointee.codec_id == AV_CODEC_ID_APNG
        let range = format.isFullRange || isPNG ? "full" : "limited"
        var colors = "scale=\(size):flags=bicubic+accurate_rnd:in_range=\(range):out_range=limited"
        if !format.isRGB, format.pixelFormat != AV_PIX_FMT_PAL8.rawValue {
            colors += ":in_color_matrix=\(format.isBT601 ? "bt601" : "bt709")"
        }
        colors += ":out_color_matrix=bt709"
        // Most animations are shown in their own size. What then needs no conversion is not resampled.
        let isSameSize = self.target.width == width && self.target.height == format.height
        let isReady = isSameSize && !format.isFullRange && !format.isBT601
        let text: String
        if isPacked {
            let (color, mask) = self.alpha == .left ? (format.width - width, 0) : (0, format.width - width)
            let isPlain =
                format.pixelFormat == AV_PIX_FMT_YUV420P.rawValue || format.pixelFormat == AV_PIX_FMT_YUVJ420P.rawValue
            var grays = "scale=\(size):flags=bicubic+accurate_rnd:in_range=\(range):out_range=full,format=gray"
            if isSameSize, isPlain {
                let stretched = ",lut=y='clip(round((val-16)*255/219),0,255)'"
                grays = "extractplanes=y" + (format.isFullRange ? "" : stretched)
            }
            if !isReady || !format.isCanvasLike { colors += ",format=yuv420p" } else { colors = "null" }
            text =
                "[in]split[a][b];[a]crop=\(width):\(format.height):\(color):0:exact=1,\(colors)[c];"
                + "[b]crop=\(width):\(format.height):\(mask):0:exact=1,\(grays)[m];[c][m]alphamerge[out]"
        } else if isReady, format.pixelFormat == AV_PIX_FMT_YUVA420P.rawValue {
            text = "[in]null[out]"
        } else {
            text = "[in]\(colors),format=yuva420p[out]"
        }
        return (text, isReady)
    }
}
