import HLS
import MediaKernels
import MediaTypes
import Origin
import Synchronization

/// A clock set by the test.
final class HandClock: MonotonicClock {
    private let time = Mutex<Int64>(0)
    func now() -> Int64 { self.time.withLock { $0 } }
    func set(seconds: Int64) { self.time.withLock { $0 = seconds * 1_000_000_000 } }
}

/// A stream of one or more generated tracks at the live edge of a content.
final class LiveStream: Sendable {
    struct Track {
        var window: PlaylistWindow
        var parts: [Part] = []
    }

    let content: LiveContent
    let clock = HandClock()
    let names: [String]
    private let tracks: Mutex<[Track]>
    private let control: ServerControl

    init(
        _ names: [String] = ["v", "a"], elsewhere: [String: OriginObject] = [:], demand: LiveContent.Demand? = nil
    ) throws {
        let grid = try OutputGrid(fps: 30)
        self.control = ServerControl(grid: grid)
        self.names = names
        self.content = LiveContent(
            control: self.control, playlistNames: Set(names.map { "\($0).m3u8" }), clock: self.clock,
            elsewhere: { elsewhere[$0] }, demand: demand, ended: { false })
        self.tracks = Mutex(
            names.map { _ in Track(window: PlaylistWindow(style: .live(windowSeconds: 20), targetDuration: 2)) })
    }

    static func bytes(_ name: String) -> [UInt8] { Array((0..<400).map { _ in name }.joined(separator: ",").utf8) }

    /// Publishes the next part of a track; the fourth completes the segment.
    func next(_ track: Int = 0) throws {
        try self.tracks.withLock { tracks in
            let number = tracks[track].window.nextMediaSequence
            let index = tracks[track].parts.count
            let name = "\(self.names[track])-1-\(number).\(index).m4s"
            let kind: TrackKind = self.names[track] == "a" ? .audio : .video
            let start = (number * 4 + Int64(index)) * 16
            tracks[track].parts.append(
                Part(
                    uri: name, start: start, duration: MediaDuration(ticks: 16, timescale: 30),
                    independent: index % 2 == 0,
                    byteCount: 10))
            var update = LiveEdgeUpdate()
            update.added.append(
                LiveEdgeUpdate.Object(name: name, kind: kind, content: .whole(PacketMemory(Self.bytes(name)))))
            if index == 3 {
                let segment = "\(self.names[track])-1-\(number).m4s"
                let parts = tracks[track].parts
                update.added.append(
                    LiveEdgeUpdate.Object(name: segment, kind: kind, content: .parts(parts.map(\.uri))))
                try tracks[track].window.append(
                    Segment(
                        mediaSequence: number, uri: segment, start: number * 64,
                        duration: MediaDuration(ticks: 64, timescale: 30), programDate: number * 2_133_333_333,
                        map: InitializationSegment(uri: "init.mp4"), parts: parts, byteCount: 40))
                tracks[track].parts = []
            }
            update.playlists.append(("\(self.names[track]).m3u8", self.playlist(tracks[track], track)))
            self.content.publish(update)
        }
    }

    /// Ends the list of a track, which begins again with the next part, at the number that the others have then.
    func sleep(_ track: Int) {
        self.tracks.withLock { tracks in
            tracks[track].window.sleep()
            tracks[track].parts = []
            var update = LiveEdgeUpdate()
            update.asleep = ["\(self.names[track]).m3u8"]
            self.content.publish(update)
        }
    }

    /// Passes over the segments that another track has listed, before the sleeping track's next part.
    func skip(_ track: Int, like other: Int) {
        self.tracks.withLock { tracks in
            tracks[track].window.skip(to: tracks[other].window.nextMediaSequence, discontinuities: 0)
        }
    }

    func end(_ track: Int = 0) {
        self.tracks.withLock { tracks in
            tracks[track].window.end()
            var update = LiveEdgeUpdate()
            update.playlists.append(("\(self.names[track]).m3u8", self.playlist(tracks[track], track)))
            self.content.publish(update)
        }
    }

    /// Replaces the hint of a track before its part was published, and drops the part.
    func giveUpHint(_ track: Int = 0) {
        self.tracks.withLock { tracks in
            let number = tracks[track].window.nextMediaSequence + 1
            var update = LiveEdgeUpdate()
            update.playlists.append(
                (
                    "\(self.names[track]).m3u8",
                    MediaPlaylist(
                        tracks[track].window,
                        edge: LiveEdge(
                            control: self.control, open: nil, hint: "\(self.names[track])-1-\(number).0.m4s"))
                ))
            self.content.publish(update)
        }
    }

    func remove(_ names: [String]) {
        var update = LiveEdgeUpdate()
        update.removed = names
        self.content.publish(update)
    }

    private func playlist(_ track: Track, _ index: Int) -> MediaPlaylist {
        let number = track.window.nextMediaSequence
        let open =
            track.parts.isEmpty
            ? nil
            : LiveEdge.OpenSegment(
                programDate: number * 2_133_333_333, map: InitializationSegment(uri: "init.mp4"), discontinuity: false,
                parts: track.parts)
        return MediaPlaylist(
            track.window,
            edge: LiveEdge(
                control: self.control, open: open, hint: "\(self.names[index])-1-\(number).\(track.parts.count).m4s"))
    }
}
