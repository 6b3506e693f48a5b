package import MediaTypes
import RTMP

/// Describes a rendition in `onMetaData`, which each new reader gets first.
package struct FeedDescription: Sendable, Hashable {
    package var name: String
    /// Width of the video in pixels; 0 if the rendition has no video.
    package var width = 0
    /// Height of the video in pixels; 0 if the rendition has no video.
    package var height = 0
    /// Frames per second; 0 if the rendition has no video.
    package var fps = 0
    /// Bit rate of the video in bits per second; 0 if the rendition has no video.
    package var videoBitrate = 0
    package var audioBitrate = 0
    package var sampleRate = 0
    package var channels = 0
    package var hasVideo: Bool { self.width > 0 }
    package var hasAudio: Bool { self.sampleRate > 0 }

    package init(name: String) { self.name = name }

    /// The properties for `onMetaData`.
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

/// Makes FLV tags from the coded packets of one rendition, and keeps those since the last IDR frame for readers that
/// start.
///
/// Pure: packets in, tags out. Audio leaves its encoder sooner than video; it waits for the video with the same
/// timestamps, so that tags are in timestamp order, unless the video is more than ``longestWait`` behind. Invariant: no
/// packet of a rendition with video is output before the first IDR frame.
package struct FeedCore: Sendable {
    /// Maximum duration of the audio that waits for video, in milliseconds: more than the longest look-ahead of the
    /// encoders.
    package static let longestWait: Int64 = 3_000
    /// Maximum size in bytes of the tags kept for new readers; a GOP that is larger is not kept.
    package static let keptBytes = 16 << 20
    /// Maximum duration of the kept tags, in milliseconds; a GOP that is longer is not kept.
    package static let keptTime: Int64 = 10_000

    package private(set) var description: FeedDescription
    /// True if each tag is also made in the form of an FLV file, for HTTP-FLV viewers.
    private let makesFiles: Bool
    private var videoTimes = TagTimestamps()
    private var audioTimes = TagTimestamps()
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

    /// Sets the configuration of a track from the next packet on: H.264 with its `AVCDecoderConfigurationRecord`, AAC
    /// with its `AudioSpecificConfig`.
    ///
    /// - Parameters:
    ///   - size: Width and height of the video in pixels; `nil`: unchanged.
    ///   - isPlaced: See ``TagTimestamps/beginStream(isPlaced:)``; `nil`: unchanged.
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
        // The kept tags have the old configuration, and an IDR frame follows.
        self.kept = []
        self.bytes = 0
        self.emit(self.configuration(message, .video))
    }

    /// Sets the bit rate of the video, in bits per second.
    package mutating func setVideoBitrate(_ bitrate: Int) {
        guard self.description.videoBitrate != bitrate else { return }
        self.description.videoBitrate = bitrate
        self.emit(self.metadata)
    }

    /// Handles the next packet of the rendition; the packets of each track arrive in decoding order.
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

    /// Outputs the audio that waits for video: the rendition has ended.
    package mutating func finish() { self.release(upTo: .max) }

    /// Drops the waiting packets and the kept tags, because no reader is left. A rendition with video starts again with
    /// its next IDR frame.
    package mutating func rest() {
        self.hasBegun = false
        (self.waiting, self.kept, self.bytes) = ([], [], 0)
    }

    /// Removes and returns the tags made since the last call.
    package mutating func takeOutput() -> [LiveTag] {
        defer { self.output = [] }
        return self.output
    }

    /// The tags with which a new reader starts: metadata, sequence headers, and the tags kept since the last IDR frame.
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

    /// Returns the tag with its time set, also in the message, and with its form for FLV files.
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
