import CLibAV
import MediaKernels
package import MediaTypes

/// Reads an MPEG transport stream from the network. Blocks; created, used and released on one thread.
///
/// It decodes nothing, and never opens anything but MPEG-TS over the given protocol, whatever the bytes look like.
@safe
package final class MPEGTSReader {
    /// Where to receive the stream from.
    package struct Address: Sendable {
        /// `srt://HOST:PORT?mode=…`. Must not contain a secret, because libavformat writes it into its messages.
        package var url: String
        /// Options that are passed to libavformat.
        package var options: [(name: String, value: String)]

        package init(url: String, options: [(name: String, value: String)]) {
            self.url = url
            self.options = options
        }
    }

    package enum Next {
        case unit(MPEGTSUnit)
        /// The program map table announces another codec for audio track `track` than the one with which libavformat
        /// splits the track into frames. Reported once per change; the other tracks continue.
        case changed(CodecName, track: UInt8)
        /// The data of an audio track is not in its codec (`codec`) any more: no frame can be found in it.
        case unreadable(codec: String)
        /// The sender has disconnected or the connection was lost; the protocol does not distinguish the two.
        case ended
        /// ``StreamInterrupt`` ended the call.
        case interrupted
        /// More data has been read than a unit can have; see ``ReadLimit``.
        case overrun
    }

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let interrupt: StreamInterrupt
    private let slot: PacketSlot
    private var tracks: [Int32: Track] = [:]
    private var numbers = MPEGTSTracks()
    private var budget = ReadLimit()

    private struct Track {
        var kind: TrackKind
        var number: UInt8
        var id: AVCodecID
        var codec: CodecName?
        var name: String
        /// Identifier of ``RegisteredFormat`` when the track's first unit arrived.
        var tag: UInt32
    }

    /// Number of bytes that are probed for the stream's program tables.
    private static let probeSize: Int64 = 32_768

    /// Waits for a sender, or connects to it.
    ///
    /// - Throws: ``MediaError/Code/notReadable`` if there is no connection, or if `interrupt` ended the wait;
    ///   ``MediaError/Code/unavailable`` if libavformat cannot read MPEG-TS.
    package static func open(
        _ address: Address, interrupt: StreamInterrupt, place: String
    ) throws(MediaError) -> MPEGTSReader {
        let slot = try PacketSlot.open(place: place)
        guard let format = unsafe av_find_input_format("mpegts"), let made = unsafe avformat_alloc_context() else {
            throw MediaError(
                .unavailable, "libavformat has no MPEG-TS", at: place, fix: "install an FFmpeg that has it")
        }
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe made
        unsafe made.pointee.interrupt_callback = interrupt.callback
        unsafe made.pointee.probesize = Self.probeSize
        unsafe made.pointee.correct_ts_overflow = 0
        // Do not let libavformat fill in timestamps that the stream does not contain.
        unsafe made.pointee.flags |= CLIBAV_FORMAT_NO_FILL_IN
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        for option in address.options { unsafe av_dict_set(&options, option.name, option.value, 0) }
        unsafe av_dict_set(&options, "protocol_whitelist", "srt,udp", 0)
        clibav_quiet_srt()
        // Frees the context if it fails.
        let status = unsafe avformat_open_input(&context, address.url, format, &options)
        guard status >= 0, let opened = unsafe context else {
            throw .libav(
                .notReadable, interrupt.isOverdue ? "no data arrived in time" : "the SRT connection failed", status,
                at: place,
                fix: "check address, stream id and passphrase")
        }
        return unsafe MPEGTSReader(owning: opened, interrupt, slot)
    }

    private init(
        owning context: UnsafeMutablePointer<AVFormatContext>, _ interrupt: StreamInterrupt,
        _ slot: consuming PacketSlot
    ) {
        unsafe self.context = context
        self.interrupt = interrupt
        self.slot = slot
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = unsafe self.context
        unsafe avformat_close_input(&context)
    }

    /// Returns the next unit of any track as soon as it is available.
    package func next() -> Next {
        // Check before reading, so that a unit that has been read is not lost.
        if let change = self.registeredChange() ?? self.audioBacklog() { return change }
        while true {
            unsafe av_packet_unref(self.slot.raw)
            self.interrupt.begin()
            let status = unsafe av_read_frame(self.context, self.slot.raw)
            guard status >= 0 else {
                if self.interrupt.isOverrun { return .overrun }
                if self.interrupt.wasRaised || self.interrupt.isOverdue { return .interrupted }
                if status == CLIBAV_ERROR_AGAIN { continue }
                return .ended
            }
            let packet = unsafe self.slot.raw.pointee
            guard unsafe self.mayGoOn(after: packet.stream_index, bytes: Int64(packet.size)) else { return .overrun }
            guard unsafe packet.size > 0, let data = unsafe packet.data,
                let track = unsafe self.track(packet.stream_index)
            else { continue }
            // Checked: libavformat's own packet has this number of bytes.
            let bytes = unsafe UnsafeRawBufferPointer(start: data, count: Int(packet.size))
            var types: NALTypes = []
            let payload: PacketMemory
            if track.codec == .h264 || track.codec == .hevc {
                let units = unsafe AnnexB.lengthPrefixed(bytes)
                (payload, types) = (units.memory, units.types)
                if payload.count == 0 { continue }
            } else {
                payload = unsafe PacketMemory(copying: bytes)
            }
            return unsafe .unit(
                MPEGTSUnit(
                    kind: track.kind, track: track.number, codec: track.codec, codecName: track.name, payload: payload,
                    types: types, pts: packet.pts == CLIBAV_NO_TIMESTAMP ? nil : packet.pts,
                    dts: packet.dts == CLIBAV_NO_TIMESTAMP ? nil : packet.dts, duration: max(0, packet.duration)))
        }
    }

    private func mayGoOn(after index: Int32, bytes: Int64) -> Bool {
        let read = unsafe self.context.pointee.pb?.pointee.bytes_read ?? 0
        var frames = 0
        var isPicture = false
        // Checked: the context has this number of streams.
        for place in 0..<Int(unsafe self.context.pointee.nb_streams) {
            guard let stream = unsafe self.context.pointee.streams[place],
                unsafe stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO
            else { continue }
            frames += 1
            if place == Int(index) { isPicture = true }
        }
        // Audio frames have a known length, and `audioBacklog()` checks for data without frames; only video is
        // assembled until the next unit begins.
        return self.budget.noted(unit: bytes, total: read, settlesAll: frames == 0 || (frames == 1 && isPicture))
    }

    /// Returns the track of a libavformat stream; `nil` if the stream is neither video nor audio, or no longer part of
    /// the program.
    private func track(_ index: Int32) -> Track? {
        guard let stream = unsafe self.stream(index) else { return nil }
        let kind: TrackKind
        switch unsafe stream.pointee.codecpar.pointee.codec_type {
        case AVMEDIA_TYPE_VIDEO: kind = .video
        case AVMEDIA_TYPE_AUDIO: kind = .audio
        default: return nil
        }
        guard let number = self.numbers.number(of: index, kind, isNamed: { self.isNamed($0) }) else { return nil }
        // The tables may also change the codec of a stream.
        let codec = unsafe stream.pointee.codecpar.pointee.codec_id
        if let known = self.tracks[index], known.id == codec, known.kind == kind, known.number == number {
            return known
        }
        let name = unsafe avcodec_get_name(codec).map { unsafe String(cString: $0) } ?? "unknown"
        let track = Track(
            kind: kind, number: number, id: codec, codec: CodecName(codec), name: name,
            tag: unsafe stream.pointee.codecpar.pointee.codec_tag)
        self.tracks[index] = track
        return track
    }

    private func registeredChange() -> Next? {
        for (index, track) in self.tracks where track.kind == .audio {
            guard let stream = unsafe self.stream(index) else { continue }
            let tag = unsafe stream.pointee.codecpar.pointee.codec_tag
            guard tag != track.tag else { continue }
            self.tracks[index]?.tag = tag
            let id = unsafe stream.pointee.codecpar.pointee.codec_id
            // If libavformat has followed the change, the next unit creates a new track.
            guard id == track.id, let codec = RegisteredFormat.change(of: track.codec, from: track.tag, to: tag)
            else { continue }
            return .changed(codec, track: track.number)
        }
        return nil
    }

    /// Checks for audio data in which libavformat's parser finds no frame, because the parser keeps all such data.
    private func audioBacklog() -> Next? {
        // Checked: the context has this number of streams.
        for place in 0..<Int(unsafe self.context.pointee.nb_streams) {
            guard let stream = unsafe self.context.pointee.streams[place],
                unsafe stream.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
            else { continue }
            let known = self.tracks[Int32(clamping: place)]
            let open = unsafe clibav_open_bytes(stream)
            guard !ReadLimit.allows(audio: open, hasBegun: known != nil) else { continue }
            if let known { return .unreadable(codec: known.name) }
            return .overrun
        }
        return nil
    }

    private func stream(_ index: Int32) -> UnsafeMutablePointer<AVStream>? {
        guard index >= 0, unsafe UInt32(index) < self.context.pointee.nb_streams else { return nil }
        // Checked: the context has this number of streams.
        return unsafe self.context.pointee.streams[Int(index)]
    }

    /// Whether the current program tables contain the stream with this index.
    private func isNamed(_ index: Int32) -> Bool {
        // Checked: the context has this number of programs, and each of them this number of streams.
        for place in 0..<Int(unsafe self.context.pointee.nb_programs) {
            guard let program = unsafe self.context.pointee.programs[place] else { continue }
            for entry in 0..<Int(unsafe program.pointee.nb_stream_indexes) {
                if unsafe program.pointee.stream_index[entry] == UInt32(bitPattern: index) { return true }
            }
        }
        return false
    }
}
