import Foundation
import HLS

/// A media playlist, read by the rules of RFC 8216.
struct Playlist {
    struct Segment {
        var uri: String
        var duration: Double
        /// Seconds since the Unix epoch.
        var date: Double?
        var isDiscontinuity: Bool
        var map: String?
    }

    var text: String
    var targetDuration = 0
    var mediaSequence = 0
    var isEnded = false
    var segments: [Segment] = []
    /// Violations found.
    var mistakes: [String] = []

    init(contentsOf path: String) throws { self.init(try Files.text(path)) }

    init(_ text: String) {
        self.text = text
        var duration: Double?
        var date: Double?
        var isDiscontinuity = false
        var map: String?
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.first != "#EXTM3U" { self.mistakes.append("the first line is not #EXTM3U") }
        for line in lines {
            let value = line.firstIndex(of: ":").map { String(line[line.index(after: $0)...]) } ?? ""
            if line.hasPrefix("#EXT-X-TARGETDURATION:") {
                self.targetDuration = Int(value) ?? 0
            } else if line.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") {
                self.mediaSequence = Int(value) ?? -1
            } else if line.hasPrefix("#EXTINF:") {
                duration = Double(value.split(separator: ",", omittingEmptySubsequences: false).first ?? "")
            } else if line.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:") {
                date = ProgramDate.parse(value).map { Double($0) / 1e9 }
                if date == nil { self.mistakes.append("no date: \(value)") }
            } else if line == "#EXT-X-DISCONTINUITY" {
                isDiscontinuity = true
            } else if line.hasPrefix("#EXT-X-MAP:") {
                map = line.split(separator: "\"").dropFirst().first.map(String.init)
            } else if line == "#EXT-X-ENDLIST" {
                self.isEnded = true
            } else if !line.isEmpty, !line.hasPrefix("#") {
                guard let length = duration else {
                    self.mistakes.append("\(line) has no EXTINF")
                    continue
                }
                if Int(length.rounded()) > self.targetDuration {
                    self.mistakes.append("\(line) is \(length) s long, TARGETDURATION \(self.targetDuration)")
                }
                if map == nil, !line.hasSuffix(".vtt") { self.mistakes.append("\(line) has no EXT-X-MAP") }
                self.segments.append(
                    Segment(uri: line, duration: length, date: date, isDiscontinuity: isDiscontinuity, map: map))
                (duration, date, isDiscontinuity) = (nil, nil, false)
            }
        }
        if self.targetDuration < 1 { self.mistakes.append("no TARGETDURATION") }
        if self.segments.isEmpty { self.mistakes.append("no segment") }
    }

    var duration: Double { self.segments.reduce(0) { $0 + $1.duration } }

    /// The media playlists in a directory: one per rendition and one for audio.
    static func all(in directory: String) throws -> [(name: String, playlist: Playlist)] {
        try Files.names(in: directory)
            .filter { $0.hasSuffix(".m3u8") && $0 != "index.m3u8" && !$0.hasSuffix("-iframes.m3u8") }
            .map { ($0, try Playlist(contentsOf: "\(directory)/\($0)")) }
    }
}
