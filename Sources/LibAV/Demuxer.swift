import CLibAV
import MediaKernels
package import MediaTypes

/// Reads a media file as a source: returns its packets and codec parameters, as fast as the caller requests them. H.264
/// and HEVC are returned in one form whatever the file has; see ``NALConversion``. Used and released on one thread, which
/// may differ from the one that opened it; see ``OpenedFile``.
@safe
package final class Demuxer {
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let slot: PacketSlot
    private let place: String
    private var tracks: [Int32: Track] = [:]
    /// Codec parameters of each track that is read: the best video and the best audio stream of the file.
    package private(set) var parameters: [CodecParameters] = []
    /// New parameters that apply from the packet last returned by ``next()``; `nil` if they are unchanged.
    package private(set) var change: CodecParameters?

    private struct Track {
        var kind: TrackKind
        var numerator: Int64
        var denominator: Int64
        var parameters: CodecParameters
        /// `nil`: the packets need no conversion.
        var conversion: NALConversion?
    }

    /// Ticks per second of every packet: fine enough that no container's timestamps are visibly rounded, and exact for
    /// 1/1000.
    package static let timescale: Int32 = 1_000_000

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - isAnyInput: Whether `path` may be everything that libavformat can open, such as a URL, a playlist or a pipe.
    ///     If not, then it must be a file that contains its media; see ``LocalFile``.
    ///   - allowsPipe: Whether the file may be a named pipe.
    /// - Throws: ``MediaError/Code/notReadable`` if the file does not exist, ``MediaError/Code/invalidData`` if it
    ///   cannot be opened for another reason, is not media or has no track with a supported codec.
    package static func open(
        path: String, place: String, isAnyInput: Bool = false, allowsPipe: Bool = false
    ) throws(MediaError) -> Demuxer {
        let slot = try PacketSlot.open(place: place)
        var context: UnsafeMutablePointer<AVFormatContext>?
        var status =
            isAnyInput
            ? unsafe avformat_open_input(&context, path, nil, nil)
            : unsafe LocalFile.open(&context, path, formats: LocalFile.media, allowsPipe: allowsPipe)
        guard status >= 0, let made = unsafe context else {
            let missing = status == -2  // AVERROR(ENOENT)
            throw .libav(
                missing ? .notReadable : .invalidData, "cannot open \(path)", status, at: place,
                fix: missing
                    ? "check the path; a relative path begins at the working directory"
                    : isAnyInput
                        ? "give a media file FFmpeg can read"
                        : "give a media file, such as MP4, Matroska, MPEG-TS, FLV, Ogg or MP3; playlists are not read, and pipes only by offline jobs"
            )
        }
        let demuxer = unsafe Demuxer(owning: made, slot: slot, place: place)
        status = unsafe avformat_find_stream_info(made, nil)
        guard status >= 0 else {
            throw .libav(
                .invalidData, "\(path) is not readable media", status, at: place,
                fix: "give a media file FFmpeg can read")
        }
        demuxer.chooseTracks()
        guard !demuxer.tracks.isEmpty else {
            throw MediaError(
                .invalidData, "\(path) has no H.264, AAC or other supported track", at: place,
                fix: "transcode it to H.264 and AAC")
        }
        return demuxer
    }

    private init(owning context: UnsafeMutablePointer<AVFormatContext>, slot: consuming PacketSlot, place: String) {
        unsafe self.context = context
        self.slot = slot
        self.place = place
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe self.context
        unsafe avformat_close_input(&context)
    }

    private func chooseTracks() {
        let wanted: [(AVMediaType, TrackKind)] = [(AVMEDIA_TYPE_VIDEO, .video), (AVMEDIA_TYPE_AUDIO, .audio)]
        for (type, kind) in wanted {
            let index = unsafe av_find_best_stream(self.context, type, -1, -1, nil, 0)
            guard index >= 0, let stream = unsafe self.context.pointee.streams[Int(index)] else { continue }
            let codecpar = unsafe stream.pointee.codecpar.pointee
            guard let codec = unsafe CodecName(codecpar.codec_id) else { continue }
            let extradata = unsafe UnsafeBufferPointer(
                start: codecpar.extradata, count: max(0, Int(codecpar.extradata_size)))
            let configuration = unsafe [UInt8](extradata)
            let conversion = NALConversion(codec: codec, configuration: configuration)
            let parameters = unsafe CodecParameters(
                codec: codec, configuration: conversion?.configuration ?? configuration,
                orientation: Self.orientation(of: stream))
            let base = unsafe stream.pointee.time_base
            guard base.den > 0 else { continue }
            self.parameters.append(parameters)
            self.tracks[index] = Track(
                kind: kind, numerator: Int64(base.num) * Int64(Self.timescale), denominator: Int64(base.den),
                parameters: parameters, conversion: conversion)
        }
    }

    private static func orientation(of stream: UnsafeMutablePointer<AVStream>) -> VideoOrientation {
        var size = 0
        let data = unsafe clibav_display_matrix(stream, &size)
        return VideoOrientation(displayMatrix: unsafe PictureTraits.numbers(data, size))
    }

    /// Detects a new configuration record attached to a packet, for example a second sequence header in an FLV file.
    private func noteChange(of track: Track, _ index: Int32) {
        var size = 0
        guard let data = unsafe av_packet_get_side_data(self.slot.raw, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0,
            size < 1 << 20
        else { return }
        let record = unsafe [UInt8](UnsafeBufferPointer(start: data, count: size))
        let conversion = NALConversion(codec: track.parameters.codec, configuration: record)
        self.tracks[index]?.conversion = conversion
        self.setConfiguration(conversion?.configuration ?? record, of: index)
    }

    private func setConfiguration(_ configuration: [UInt8], of index: Int32) {
        guard let known = self.tracks[index]?.parameters, !configuration.isEmpty, configuration != known.configuration
        else { return }
        let parameters = CodecParameters(
            codec: known.codec, configuration: configuration, orientation: known.orientation)
        self.tracks[index]?.parameters = parameters
        self.change = parameters
    }

    /// Returns the packet in the form that ``NALConversion`` makes; `nil` if nothing in it can be decoded.
    private func converted(_ memory: PacketMemory, of index: Int32, isKey: Bool) -> PacketMemory? {
        guard var conversion = self.tracks[index]?.conversion else { return memory }
        let result = conversion.convert(memory, isKey: isKey)
        self.tracks[index]?.conversion = conversion
        self.setConfiguration(conversion.configuration, of: index)
        return result
    }

    /// Returns the next packet of a chosen track in file order; `nil` at the end, or at damage that libavformat cannot
    /// skip. Packets without data or timestamps are left out, and video before its first parameter sets.
    package func next() -> CodedPacket? {
        self.change = nil
        while true {
            unsafe av_packet_unref(self.slot.raw)
            guard unsafe av_read_frame(self.context, self.slot.raw) >= 0 else { return nil }
            let packet = unsafe self.slot.raw.pointee
            guard let track = unsafe self.tracks[packet.stream_index], unsafe packet.size > 0 else { continue }
            unsafe self.noteChange(of: track, packet.stream_index)
            let isKey = unsafe packet.flags & Int32(CLIBAV_PACKET_FLAG_KEY) != 0
            let read = unsafe PacketMemory(
                copying: UnsafeRawBufferPointer(start: packet.data, count: Int(packet.size)))
            guard let memory = unsafe self.converted(read, of: packet.stream_index, isKey: isKey) else { continue }
            let dts = unsafe packet.dts != CLIBAV_NO_TIMESTAMP ? packet.dts : packet.pts
            let pts = unsafe packet.pts != CLIBAV_NO_TIMESTAMP ? packet.pts : dts
            guard pts != CLIBAV_NO_TIMESTAMP else { continue }
            return unsafe CodedPacket(
                kind: track.kind, memory: memory,
                pts: TimeMath.scale(pts, by: track.numerator, over: track.denominator),
                dts: TimeMath.scale(dts, by: track.numerator, over: track.denominator),
                duration: TimeMath.scale(packet.duration, by: track.numerator, over: track.denominator),
                timescale: Self.timescale, isKey: isKey)
        }
    }
}

/// Passes an open file from the thread that opened it to the thread that reads it.
package final class OpenedFile: @unchecked Sendable {
    // @unchecked Sendable: the creator does not use the demuxer any more; only the thread that reads the file takes it
    // out.
    private var demuxer: Demuxer?

    package init(_ demuxer: Demuxer) { self.demuxer = demuxer }

    /// Returns the demuxer, for use on the caller's thread only; `nil` the second time.
    package func take() -> Demuxer? {
        defer { self.demuxer = nil }
        return self.demuxer
    }
}

extension Picture {
    /// Loads the first frame of an image or video file, for placeholders and images of scenes. Only a regular file is
    /// read; see ``LocalFile``.
    ///
    /// - Throws: ``MediaError/Code/notReadable``, ``MediaError/Code/invalidData``.
    package static func load(path: String, place: String) throws(MediaError) -> Picture {
        var context: UnsafeMutablePointer<AVFormatContext>?
        var status = unsafe LocalFile.open(&context, path, formats: "\(LocalFile.images),\(LocalFile.media)")
        defer { unsafe avformat_close_input(&context) }
        guard status >= 0, let input = unsafe context else {
            throw .libav(
                .notReadable, "cannot open the image \(path)", status, at: place, fix: "give a PNG or JPEG file")
        }
        status = unsafe avformat_find_stream_info(input, nil)
        let index = unsafe av_find_best_stream(input, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
        guard status >= 0, index >= 0, let stream = unsafe input.pointee.streams[Int(index)],
            let codec = unsafe avcodec_find_decoder(stream.pointee.codecpar.pointee.codec_id),
            let decoder = unsafe avcodec_alloc_context3(codec)
        else { throw MediaError(.invalidData, "\(path) is not an image", at: place, fix: "give a PNG or JPEG file") }
        var spare: UnsafeMutablePointer<AVCodecContext>? = unsafe decoder
        defer { unsafe avcodec_free_context(&spare) }
        _ = unsafe avcodec_parameters_to_context(decoder, stream.pointee.codecpar)
        unsafe decoder.pointee.thread_count = 1
        unsafe decoder.pointee.max_pixels = 8192 * 8192
        let slot = try PacketSlot.open(place: place)
        guard unsafe avcodec_open2(decoder, codec, nil) >= 0 else {
            throw MediaError(.invalidData, "\(path) cannot be decoded", at: place, fix: "give a PNG or JPEG file")
        }
        for _ in 0..<64 {
            let ended = unsafe av_read_frame(input, slot.raw) < 0
            _ = unsafe avcodec_send_packet(decoder, ended ? nil : slot.raw)
            unsafe av_packet_unref(slot.raw)
            guard let frame = unsafe av_frame_alloc() else { break }
            if unsafe avcodec_receive_frame(decoder, frame) >= 0 {
                unsafe frame.pointee.pict_type = AV_PICTURE_TYPE_NONE
                unsafe frame.removeSideData()
                return unsafe Picture(owning: frame)
            }
            var unused: UnsafeMutablePointer<AVFrame>? = unsafe frame
            unsafe av_frame_free(&unused)
            if ended { break }
        }
        throw MediaError(.invalidData, "\(path) contains no image", at: place, fix: "give a PNG or JPEG file")
    }
}
