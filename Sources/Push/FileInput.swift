import LibAV
package import MediaTypes
import RTMP

/// A media file sent without re-encoding: H.264 with AAC or MP3 as legacy RTMP, other codecs with a FourCC as Enhanced
/// RTMP.
package final class FileInput: PublishInput {
    package let parameters: [CodecParameters]
    package let picture: (width: Int, height: Int, fps: Int)? = nil

    private let path: String
    private let loops: Bool
    private let place: String
    private var demuxer: Demuxer
    /// Time at which the current pass over a looped file begins, in the demuxer's ticks.
    private var base: Int64 = 0
    private var end: Int64 = 0
    private var start: Int64?
    private var held: [CodedPacket] = []
    private var isAtEnd = false

    /// Opens a media file; if `loops`, the file is repeated without end.
    ///
    /// - Throws: ``MediaError/Code/notReadable``; ``MediaError/Code/rejected`` for tracks that RTMP cannot carry, and for
    ///   H.264 or AAC without a configuration record, such as the AAC of MPEG-TS.
    package init(path: String, loops: Bool) throws(MediaError) {
        self.path = path
        self.loops = loops
        self.place = "publish[\(path)]"
        self.demuxer = try Demuxer.open(path: path, place: self.place, isAnyInput: true)
        for parameters in self.demuxer.parameters
        where !FLVTagWriter.codecs.contains(parameters.codec) {
            throw MediaError(
                .rejected, "\(path) contains \(parameters.codec), which RTMP cannot carry", at: self.place,
                fix: "transcode it: ffmpeg -i \(path) -c:v libx264 -c:a aac out.mp4")
        }
        for parameters in self.demuxer.parameters
        where parameters.codec == .h264 && parameters.configuration.first != 1
            || parameters.codec == .aac && parameters.configuration.isEmpty
        {
            let name = parameters.codec == .h264 ? "H.264" : "AAC"
            throw MediaError(
                .rejected, "\(path) contains \(name) without a configuration record", at: self.place,
                fix: "remux it: ffmpeg -i \(path) -c copy out.mp4")
        }
        self.parameters = self.demuxer.parameters
    }

    package func next() throws(MediaError) -> CodedPacket? {
        while true {
            if self.start != nil, !self.held.isEmpty { return self.placed(self.held.removeFirst()) }
            guard !self.isAtEnd, let packet = self.demuxer.next() else {
                if self.start == nil, !self.held.isEmpty {
                    self.start = self.held.map(\.dts).min()
                    self.isAtEnd = true
                    continue
                }
                guard self.loops, self.end > self.base else { return nil }
                self.demuxer = try Demuxer.open(path: self.path, place: self.place, isAnyInput: true)
                self.base = self.end
                self.start = nil
                self.isAtEnd = false
                continue
            }
            if self.start != nil { return self.placed(packet) }
            // The earliest first decoding time of all tracks becomes zero, because RTMP has no negative timestamps.
            self.held.append(packet)
            if Set(self.held.map(\.kind)).count == self.parameters.count || self.held.count >= 64 {
                self.start = self.held.map(\.dts).min()
            }
        }
    }

    private func placed(_ packet: CodedPacket) -> CodedPacket {
        var packet = packet
        let shift = self.base &- (self.start ?? 0)
        packet.pts = packet.pts &+ shift
        packet.dts = packet.dts &+ shift
        self.end = max(self.end, packet.dts &+ max(packet.duration, 1))
        return packet
    }
}
