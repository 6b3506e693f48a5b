package import HLS
package import MediaTypes
import Synchronization

/// What viewers are told and may have.
extension HLSPackager {
    /// Hands everything that happens at the live edge to `viewers`, parts as soon as they are cut; before
    /// ``begin(now:)``. Calls come from the ladder's thread, one at a time: they must not block.
    package func attach(_ viewers: @escaping @Sendable (LiveUpdate) -> Void) {
        self.intake.withLock { intake in
            intake.viewers = { [weak self] update in
                self?.noteShown(update)
                viewers(update)
            }
        }
    }

    /// The short segments this run begins with; `nil` for a successor, and where the room has none.
    package var opening: OpeningSegments? { self.claimed.origin == nil ? self.settings.opening : nil }

    /// Segments that playlists list when they are shown for the first time.
    var firstListed: Int { self.opening == nil ? 1 : OpeningSegments.listed }

    /// Calls `body` once, when viewers can have all playlists for the first time, the multivariant one included; at once if they can
    /// already. It must not block.
    package func whenShown(_ body: @escaping @Sendable () -> Void) {
        let isShown = self.firstShown.withLock { first in
            if !first.isShown { first.body = body }
            return first.isShown
        }
        if isShown { body() }
    }

    /// The multivariant playlist can be had, and therefore all others: the live edge shows its own no later.
    func noteFirstShown() {
        let body = self.firstShown.withLock { first in
            first.isShown = true
            return first.body.take()
        }
        body?()
    }

    /// Before viewers are told: the live edge waits for no store, and what it lists needs its keys.
    private func noteShown(_ update: LiveUpdate) {
        guard self.keys != nil else { return }
        let numbers = update.playlists.filter { !$0.playlist.isIFramesOnly }.map {
            $0.playlist.position.nextMediaSequence
        }
        // One at a time: see ``attach(_:)``.
        guard let newest = numbers.max(), newest > self.shownNumber.load(ordering: .relaxed) else { return }
        self.shownNumber.store(newest, ordering: .releasing)
    }

    /// Tells of every part as soon as players can have it, with its frames of the program; on the ladder's thread.
    package func watchParts(_ watcher: @escaping @Sendable (_ track: Int, _ frames: Range<Int64>) -> Void) {
        self.intake.withLock { $0.watcher = watcher }
    }

    /// What low-latency playlists of this output declare.
    package var control: ServerControl { ServerControl(grid: self.settings.grid) }

    /// Seconds.
    package var targetDuration: Int { self.settings.grid.targetDuration }

    /// File names of the media playlists.
    package var mediaPlaylistNames: Set<String> {
        var names = Set(self.tracks.map { TrackNames(track: $0.name).playlist })
        if self.settings.iFramePlaylists {
            for track in self.tracks where track.kind == .video {
                names.insert(TrackNames(track: track.name).iFramePlaylist)
            }
        }
        return names
    }

    /// An object viewers may have now: a playlist, an initialization segment, a segment that is listed or was until a
    /// while ago; never anything else that lies in the directory. Callable from any thread.
    package func object(named name: String) -> PublishedObject? {
        self.objects.withLock { $0[name] } ?? self.keyObject(named: name) ?? self.extras.withLock { $0[name] }
            ?? self.beside.withLock { $0 }.lazy.compactMap { $0(name) }.first
    }

    /// File name of the multivariant playlist.
    package var multivariantName: String { self.settings.multivariantName }
}
