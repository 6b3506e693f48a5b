package import HLS
import LibAV
package import MediaTypes
import Synchronization

/// The interface to the playback listener: notifications for viewers and the objects they can request.
extension HLSPackager {
    /// Registers `viewers`, which is called with every change at the live edge, including each new part; call this
    /// before ``begin(now:slate:)``. The calls come one at a time, on whichever thread makes the change (an encoder's, the
    /// writer's, or a caller of the packager's methods), with a lock held, and must not block.
    package func attach(_ viewers: @escaping @Sendable (LiveEdgeUpdate) -> Void) {
        self.intake.withLock { intake in
            intake.viewers = { [weak self] update in
                self?.noteShown(update)
                viewers(update)
            }
        }
    }

    /// The short segments at the start of this run; `nil` for a later worker of the room, and if the room has no short
    /// segments.
    package var opening: StartupSegments? { self.claimed.origin == nil ? self.settings.opening : nil }

    /// Number of segments that playlists must list before they are first shown.
    var firstListed: Int { self.opening == nil ? 1 : StartupSegments.listed }

    /// Calls `body` once, as soon as viewers can request all live playlists including the multivariant one. `body` must
    /// not block.
    package func whenShown(_ body: @escaping @Sendable () -> Void) {
        let isShown = self.firstShown.withLock { first in
            if !first.isShown { first.body = body }
            return first.isShown
        }
        if isShown { body() }
    }

    /// Notes that the multivariant playlist is available, and therefore all live media playlists: those of the live
    /// edge are shown no later.
    func noteFirstShown() {
        let body = self.firstShown.withLock { first in
            first.isShown = true
            return first.body.take()
        }
        body?()
    }

    /// Makes the keys of new segments available before viewers are notified of those segments: the live edge does not
    /// wait for the store.
    private func noteShown(_ update: LiveEdgeUpdate) {
        guard self.keys != nil else { return }
        let numbers = update.playlists.filter { !$0.playlist.isIFramesOnly }.map {
            $0.playlist.position.nextMediaSequence
        }
        // Calls come one at a time: see ``attach(_:)``.
        guard let newest = numbers.max(), newest > self.shownNumber.load(ordering: .relaxed) else { return }
        self.shownNumber.store(newest, ordering: .releasing)
    }

    /// Registers `watcher`, which is called with a part's frames, counted from the room's origin, when the part has been
    /// added to the live edge. It is not called for the last parts of a track that ends.
    package func watchParts(_ watcher: @escaping @Sendable (_ track: Int, _ frames: Range<Int64>) -> Void) {
        self.intake.withLock { $0.watcher = watcher }
    }

    /// The `EXT-X-SERVER-CONTROL` values that low-latency playlists of this output declare.
    package var control: ServerControl { ServerControl(grid: self.settings.grid) }

    /// Target duration in seconds.
    package var targetDuration: Int { self.settings.grid.targetDuration }

    /// File names of the live media playlists, including I-frame playlists and those of subtitle renditions.
    package var mediaPlaylistNames: Set<String> {
        var names = Set(self.tracks.map { TrackNames(track: $0.name).playlist })
        if self.settings.iFramePlaylists {
            for track in self.tracks where track.kind == .video {
                names.insert(TrackNames(track: track.name).iFramePlaylist)
            }
        }
        return names.union(self.subtitleNames.map { TrackNames(track: $0).playlist })
    }

    /// File name of a track's media playlist; empty for an unknown track.
    package func playlistName(ofTrack track: Int) -> String {
        self.tracks.indices.contains(track) ? TrackNames(track: self.tracks[track].name).playlist : ""
    }

    /// File names of the live media playlists of video tracks and of audio tracks, without I-frame playlists.
    package var trackPlaylistNames: (video: Set<String>, audio: Set<String>) {
        func names(_ kind: TrackKind) -> Set<String> {
            Set(self.tracks.filter { $0.kind == kind }.map { TrackNames(track: $0.name).playlist })
        }
        return (names(.video), names(.audio))
    }

    /// Looks up an object that viewers can request now: a playlist, an initialization segment, a key, a segment that is
    /// listed or was until recently, or an additional object (``show(_:as:contentType:)``, ``serve(_:)``); `nil` for
    /// every other name, even if a file of that name exists. Callable from any thread.
    package func object(named name: String) -> PublishedObject? {
        self.objects.withLock { $0[name] } ?? self.archivedObject(named: name) ?? self.archivedSubtitles(named: name)
            ?? self.keyObject(named: name) ?? self.extras.withLock { $0[name] }
            ?? self.beside.withLock { $0 }.lazy.compactMap { $0(name) }.first
    }

    /// Whether viewers can request a file with a segment's name.
    func isStored(segment name: String) -> Bool {
        self.objects.withLock { $0[name] != nil } || self.archivedObject(named: name) != nil
    }

    /// Looks up a segment that only the playlists of the whole window list, or that they listed until recently.
    private func archivedObject(named name: String) -> PublishedObject? {
        guard self.settings.hasWholeWindowPlaylists || self.claimed.archive != nil,
            let archive = self.listing.withLock({ $0?.archive }), let file = archive.file(named: name),
            let path = self.store.path(of: name)
        else { return nil }
        let size = self.keys == nil ? file.byteCount : BlockCipher.size(ofClear: file.byteCount)
        return PublishedObject(
            body: .file(path: path, size: size), contentType: TrackPublication.contentType(of: file.kind),
            cacheControl: PublishedObject.immutable)
    }

    /// File names of the media playlists of the whole window, of video tracks and of audio tracks, without I-frame
    /// playlists; empty if the output has no such playlists.
    package var wholeWindowPlaylistNames: (video: Set<String>, audio: Set<String>) {
        guard self.settings.hasWholeWindowPlaylists else { return ([], []) }
        func names(_ kind: TrackKind) -> Set<String> {
            Set(
                self.tracks.filter { $0.kind == kind }.map { Publication.wholeWindowNames(of: $0.name).playlist })
        }
        return (names(.video), names(.audio))
    }

    /// Minimum target duration in seconds of the playlists of the whole window.
    package var wholeWindowTargetDuration: Int { HLSOutputSettings.archivePace }

    /// File name of the multivariant playlist.
    package var multivariantName: String { self.settings.multivariantName }
}
