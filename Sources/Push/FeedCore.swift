package import MediaTypes
import RTMP

/// What a rendition on air is: for `onMetaData`, and for those who begin to read it.
package struct FeedDescription: Sendable, Hashable {
    package var name: String
    /// Pixels and pictures per second; 0 without video.
    package var width = 0
    package var height = 0
    package var fps = 0
    /// Bits per second; 0 without the track.
    package var videoBitrate = 0
    package var audioBitrate = 0
    package var sampleRate = 0
    package var channels = 0
    package var hasVideo: Bool { self.width > 0 }
    package var hasAudio: Bool { self.sampleRate > 0 }

    package init(name: String) { self.name = name }

    /// `onMetaData`.
    var properties: [AMF0Property] {
        var properties: [(String, Double)] = []
        if self.hasVideo {
            properties += [
                ("width", Double(self.width)), ("height", Double(self.height)), ("framerate", Double(self.fps)),
                ("videodatarate", Double(self.videoBitrate) / 1_000),
            ]
        }
        if self.hasAudio {
            properties += [
                ("audiodatarate", Double(self.audioBitrate) / 1_000), ("audiosamplerate", Double(self.sampleRate)),
                ("audiosamplesize", 16), ("audiochannels", Double(self.channels)),
            ]
        }
        let codecs = FLVTagWriter.codecProperties(
            video: self.hasVideo ? .h264 : nil, audio: self.hasAudio ? .aac : nil)
        return properties.map { AMF0Property($0.0, .number($0.1)) } + codecs
            + [AMF0Property("stereo", .boolean(self.channels == 2)), AMF0Property("encoder", .string("Tandem"))]
    }
}

/// Makes FLV tags of the coded packets of one rendition, video and sound in the order of their times, and keeps those since
/// the last IDR picture for whoever begins to read.
///
/// Pure: packets in, tags out. Sound, which is coded sooner, waits for the pictures it belongs to, but never for longer than
/// ``longestWait``. Invariant: before the first IDR picture no packet goes out of a rendition that has video.
package struct FeedCore: Sendable {
    /// Milliseconds of sound that wait for pictures: more than the deepest look-ahead of the encoders.
    package static let longestWait: Int64 = 3_000
    /// Bounds of what is kept, in bytes and milliseconds: a group of pictures beyond is not kept.
    package static let keptBytes = 16 << 20
    package static let keptTime: Int64 = 10_000

    package private(set) var description: FeedDescription
    /// Nobody asks for whole tags, as files have them.
    private let makesFiles: Bool
    private var videoTimes = TagTimes()
    private var audioTimes = TagTimes()
    private var video: RTMPMediaMessage?
    private var audio: RTMPMediaMessage?
    private var waiting: [LiveTag] = []
    private var hasBegun = false
    private var lastVideo: Int64 = -1
    private var lastTime: Int64 = 0
    private var kept: [LiveTag] = []
    private var bytes = 0
    private var output: [LiveTag] = []

    package init(_ description: FeedDescription, makesFiles: Bool) {
        self.description = description
        self.makesFiles = makesFiles
    }

    /// From the next packet on, a track is coded like this: H.264 with its `AVCDecoderConfigurationRecord`, AAC with its
    /// `AudioSpecificConfig`.
    ///
    /// - Parameters:
    ///   - size: Of the pictures, in pixels; `nil`: as before.
    ///   - isPlaced: See ``TagTimes/beginStream(isPlaced:)``; `nil`: as before.
    package mutating func configure(
        _ parameters: CodecParameters, size: (width: Int, height: Int)? = nil, isPlaced: Bool? = nil
    ) {
        guard let message = FLVTagWriter.configuration(parameters) else { return }
        if parameters.kind == .audio {
            self.audio = message
            return self.emit(self.configuration(message, .audio))
        }
        self.video = message
        if let isPlaced { self.videoTimes.beginStream(isPlaced: isPlaced) }
        if let size, size != (self.description.width, self.description.height) {
            (self.description.width, self.description.height) = size
            self.emit(self.metadata)
        }
        // What is kept was coded in another way, and an IDR picture is next.
        self.kept = []
        self.bytes = 0
        self.emit(self.configuration(message, .video))
    }

    /// The pictures are coded by another bit rate, in bits per second.
    package mutating func setVideoBitrate(_ bitrate: Int) {
        guard self.description.videoBitrate != bitrate else { return }
        self.description.videoBitrate = bitrate
        self.emit(self.metadata)
    }

    /// The next packet of the rendition, in decoding order of its track.
    package mutating func receive(_ packet: CodedPacket) {
        if packet.kind == .video {
            guard self.hasBegun || packet.isKey else { return }
            let tag = self.tag(packet, at: self.videoTimes.place(packet), .h264, isKey: packet.isKey)
            guard let tag else { return }
            self.release(upTo: tag.time)
            self.hasBegun = true
            self.lastVideo = tag.time
            self.keep(tag)
            self.emit(tag)
        } else {
            let isAlone = !self.description.hasVideo
            guard let tag = self.tag(packet, at: self.audioTimes.place(packet), .aac, isKey: isAlone) else { return }
            guard !isAlone else { return self.emit(tag) }
            self.waiting.append(tag)
            self.release(upTo: max(self.lastVideo, tag.time &- Self.longestWait))
        }
    }

    /// Nobody reads any more: what waits and what is kept goes, and what comes next begins with an IDR picture.
    package mutating func rest() {
        self.hasBegun = false
        (self.waiting, self.kept, self.bytes) = ([], [], 0)
    }

    /// Takes out the tags that are new.
    package mutating func takeOutput() -> [LiveTag] {
        defer { self.output = [] }
        return self.output
    }

    /// Tags for a reader that begins now: metadata, sequence headers, and what is kept.
    package var backlog: [LiveTag] {
        let start = self.kept.first?.time ?? self.lastTime
        var tags = [self.metadata]
        if let video = self.video { tags.append(self.configuration(video, .video)) }
        if let audio = self.audio { tags.append(self.configuration(audio, .audio)) }
        for index in tags.indices { tags[index] = self.finished(tags[index], at: start) }
        return tags + self.kept
    }

    // MARK: Steps

    private var metadata: LiveTag { LiveTag(.metadata(self.description.properties), time: self.lastTime) }

    private func configuration(_ message: RTMPMediaMessage, _ kind: TrackKind) -> LiveTag {
        LiveTag(.configuration(message), time: self.lastTime, kind: kind)
    }

    private func tag(
        _ packet: CodedPacket, at place: (dts: Int64, pts: Int64), _ codec: CodecName, isKey: Bool
    ) -> LiveTag? {
        var stamped = packet
        stamped.timescale = 1_000
        (stamped.dts, stamped.pts) = place
        guard let message = FLVTagWriter.packet(stamped, codec: codec) else { return nil }
        return self.finished(LiveTag(.packet(message), time: place.dts, kind: packet.kind, isKey: isKey), at: place.dts)
    }

    /// With the time in its message too, and the bytes of a file.
    private func finished(_ tag: LiveTag, at time: Int64) -> LiveTag {
        var tag = tag
        tag.time = time
        if case .configuration(var message) = tag.content {
            message.timestamp = UInt32(truncatingIfNeeded: time)
            tag.content = .configuration(message)
        }
        if self.makesFiles { tag.file = FLVFileWriter.tag(tag) }
        return tag
    }

    private mutating func release(upTo time: Int64) {
        let count = self.waiting.firstIndex { $0.time > time } ?? self.waiting.count
        let released = self.waiting.prefix(count)
        self.waiting.removeFirst(count)
        guard self.hasBegun else { return }
        for tag in released {
            self.keep(tag)
            self.emit(tag)
        }
    }

    private mutating func keep(_ tag: LiveTag) {
        if tag.isKey {
            self.kept = []
            self.bytes = 0
        } else if self.kept.isEmpty {
            return
        }
        self.kept.append(tag)
        self.bytes += tag.count
        if self.bytes > Self.keptBytes || tag.time &- (self.kept.first?.time ?? 0) > Self.keptTime {
            self.kept = []
            self.bytes = 0
        }
    }

    private mutating func emit(_ tag: LiveTag) {
        self.lastTime = max(self.lastTime, tag.time)
        self.output.append(tag.isPacket ? tag : self.finished(tag, at: self.lastTime))
    }
}
