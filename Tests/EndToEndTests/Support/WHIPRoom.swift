import Foundation
import Glibc
import TestSupport
import Testing

extension Rooms {
    /// One rendition of 640x360 with low CPU cost.
    static let medium = """
        [{ "name": "360p", "width": 640, "height": 360, "video": { "bitrate": 800000, "preset": "ultrafast", "bFrames": 0 } }]
        """

    /// The room of `pipeline` with a listener for WHIP.
    ///
    /// - Parameters:
    ///   - listen: `HOST:PORT` of the HTTP listener.
    ///   - udp: `HOST:PORT` of the UDP socket.
    static func withWHIP(
        _ pipeline: String, listen: String = "127.0.0.1:0", udp: String = "127.0.0.1:0"
    ) -> String {
        pipeline.replacingOccurrences(
            of: #""ingest": {"#,
            with: #""ingest": { "webrtc": { "listen": "\#(listen)", "udp": "\#(udp)" },"#)
    }
}

extension RunningRoom {
    /// URL of the WHIP endpoint.
    var whip: String { get throws { try #require(try self.event("room.ready").text("whip")) } }

    /// The statistics of one source.
    func statistics(_ uid: String) throws -> SourceCounters { try #require(try self.statistics()[uid], "\(uid)") }

    /// The statistics of all sources by uid.
    func statistics() throws -> [String: SourceCounters] {
        let reply = try HTTPClient.request("GET", self.control, "/v1/stats?level=debug")
        let sources = reply.json()["sources"] as? [[String: Any]] ?? []
        return Dictionary(
            sources.compactMap { source in (source["uid"] as? String).map { ($0, SourceCounters(source)) } },
            uniquingKeysWith: { first, _ in first })
    }
}

/// What a room counts of one source.
struct SourceCounters {
    var packets = 0
    var damaged = 0
    var shown = 0
    var repeated = 0
    var bufferMs = 0
    var picture = ""
    var cipher: String?
    /// Frames that were not given out since packets of them or of an earlier frame are missing.
    var damagedFrames = 0
    /// Packets that the network lost and that may have been resent.
    var networkLost = 0
    var nacks = 0
    var keyFrameRequests = 0

    init(_ source: [String: Any]) {
        func number(_ object: [String: Any], _ name: String) -> Int { (object[name] as? NSNumber)?.intValue ?? 0 }
        self.packets = number(source, "videoPackets")
        self.damaged = number(source, "damaged")
        self.shown = number(source, "shown")
        self.repeated = number(source, "repeated")
        self.bufferMs = number(source, "bufferMs")
        self.picture = source["picture"] as? String ?? ""
        let webRTC = source["webrtc"] as? [String: Any] ?? [:]
        self.cipher = webRTC["cipher"] as? String
        self.damagedFrames = number(webRTC, "damagedFrames")
        self.networkLost = number(webRTC, "networkLost")
        self.nacks = number(webRTC, "nacks")
        self.keyFrameRequests = number(webRTC, "keyFrameRequests")
    }
}

/// Flashes in the video of an output.
enum Flashes {
    /// Times in seconds at which a rectangle of the frame lights up.
    ///
    /// - Parameter rectangle: As FFmpeg's `crop` takes it: `WIDTH:HEIGHT:LEFT:TOP`.
    static func onsets(_ path: String, _ rectangle: String, _ media: Media) throws -> [Double] {
        let child = try Child(
            media.ffmpeg,
            [
                "-nostdin", "-v", "error", "-copyts", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-vf",
                "crop=\(rectangle),scale=1:1:flags=area,format=gray", "-f", "rawvideo", "-",
            ], readsOutput: false)
        let luma = [UInt8](
            FileHandle(fileDescriptor: child.output, closeOnDealloc: false).readDataToEndOfFile())
        guard try child.wait(timeout: 30) == 0 else { throw Missing("ffmpeg \(path): \(child.errors)") }
        let times = try media.frameTimes(path, "v:0")
        return zip(times.dropFirst(), zip(luma, luma.dropFirst())).compactMap { time, pair in
            pair.0 < 128 && pair.1 >= 128 ? time : nil
        }
    }
}

/// A publisher made with the Python library aiortc: `Scripts/whip_publisher.py`. Stops with the object.
final class AiortcPublisher: Sendable {
    /// One line of its output.
    typealias Message = Event
    /// Frequency of its beep.
    static let hertz = 1_600

    /// Python with aiortc; nil if it cannot be installed.
    private static let python: String? = {
        let installed = try? Command.run("\(EndToEnd.root)/.ci/aiortc", [], timeout: 150)
        if let installed, installed.code != 0 { print(installed.errors) }
        return installed?.code == 0 ? "\(EndToEnd.root)/.build/aiortc/bin/python3" : nil
    }()

    let child: Child

    /// Starts it. If aiortc cannot be installed, then the current test ends as skipped.
    ///
    /// - Parameter port: UDP port to send to, instead of the room's.
    init(
        _ whip: String, key: String, codec: String = "h264", port: UInt16? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        guard let python = Self.python else {
            try TestTool.skip("aiortc", "run .ci/aiortc", sourceLocation: sourceLocation)
        }
        self.child = try Child(
            python,
            ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/whip_publisher.py", whip, "--codec", codec]
                + (port.map { ["--port", "\($0)"] } ?? []),
            environment: ["WHIP_KEY": key], keepsInput: true)
    }

    deinit { self.child.signal(SIGKILL) }

    /// Waits for a message: `posted`, `answered`, `connected`, `closed`, `deleted` or `ended`.
    @discardableResult
    func message(_ name: String, timeout: Double = 20) throws -> Message {
        let found = self.child.line(from: 0, timeout: timeout) { Message($0)?.text("event") == name }
        guard let message = found.flatMap({ Message($0.line) }) else {
            throw Missing("aiortc: no \(name): \(self.child.outputLines) \(self.child.errors.suffix(800))")
        }
        return message
    }

    /// Unix time of a message.
    func time(_ name: String) throws -> Double { try self.message(name).number("time") }

    func send(_ command: String) { self.child.send(Array("\(command)\n".utf8)) }
}
