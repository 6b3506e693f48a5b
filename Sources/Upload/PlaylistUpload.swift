import HLS
import MediaTypes

/// The upload state of a playlist or other changing object, of which only the newest version is sent.
struct PlaylistUpload: Sendable {
    /// Number of the newest version.
    private(set) var version = 0
    /// Number of the newest version that the store has accepted; 0 if none.
    private(set) var taken = 0
    /// The request in flight and the delay after failures.
    var lane = RetrySchedule()

    mutating func change() { self.version += 1 }

    /// Whether the store does not have the newest version.
    var isDue: Bool { self.taken < self.version }

    mutating func answered(_ outcome: UploadOutcome, _ version: Int, _ now: Int64, _ jitter: Int64) {
        self.lane.answered(outcome, now, jitter)
        if outcome == .done { self.taken = max(self.taken, version) }
    }
}

/// An uploaded object that is not media, such as a still image. Only the newest version is sent, and no playlist waits
/// for it.
struct UploadExtra: Sendable {
    var bytes: [UInt8]
    let contentType: String
    var document = PlaylistUpload()
}

extension UploadQueue {
    /// Maximum number of different names in ``UploadQueue/put(_:_:contentType:)``; objects with further names are
    /// ignored.
    private static let mostExtras = 32

    /// Queues an object that is not media. A new version of an object replaces one that is not sent yet. Objects with
    /// other names than the first 32 are ignored.
    package mutating func put(_ name: String, _ bytes: [UInt8], contentType: String) {
        guard self.extras[name] != nil || self.extras.count < Self.mostExtras else { return }
        self.extras[name, default: UploadExtra(bytes: bytes, contentType: contentType)].bytes = bytes
        self.extras[name]?.document.change()
    }

    mutating func nextExtras(_ now: Int64) -> [UploadRequest] {
        var requests: [UploadRequest] = []
        for (name, extra) in self.extras where extra.document.isDue && extra.document.lane.isFree(at: now) {
            let request = self.request(
                .extra(name: name, version: extra.document.version), name, .put(.bytes(extra.bytes)),
                extra.contentType, "max-age=\(self.tracks.first?.window.targetDuration ?? 1)")
            self.extras[name]?.document.lane.request = request.id
            requests.append(request)
        }
        return requests
    }

    /// MIME type of playlists. Spec: rfc8216bis §4.
    private static let playlistType = "application/vnd.apple.mpegurl"

    /// Whether the store does not have the newest multivariant playlist. False until a track lists a segment.
    var multivariantIsDue: Bool {
        self.multivariantDocument.isDue && self.tracks.contains { !$0.window.segments.isEmpty }
    }

    /// Returns the requests for playlists that must be sent now: those of video tracks wait until the store has the
    /// newest ones of all audio tracks, and the multivariant playlist only after every other playlist has been accepted
    /// once; see invariant (2).
    mutating func nextDocuments(_ now: Int64) -> [UploadRequest] {
        var requests: [UploadRequest] = []
        let isAudioDue = self.tracks.contains { $0.kind == .audio && $0.playlist.isDue }
        for index in self.tracks.indices {
            let track = self.tracks[index]
            guard track.playlist.isDue, track.playlist.lane.isFree(at: now), track.kind == .audio || !isAudioDue else {
                continue
            }
            let bytes = Array(MediaPlaylist(track.window, dateRanges: self.dateRanges).rendered().utf8)
            let request = self.request(
                .playlist(track: index, version: track.playlist.version), track.playlistName,
                .put(.bytes(bytes)), Self.playlistType, "max-age=\(max(1, track.window.targetDuration / 2))",
                UploadRules.attempt * Int64(1 + bytes.count / UploadRules.attemptBytes))
            self.tracks[index].playlist.lane.request = request.id
            requests.append(request)
        }
        requests += self.nextIFrames(now)
        guard self.multivariantIsDue, self.multivariantDocument.lane.isFree(at: now),
            self.tracks.allSatisfy({ $0.playlist.taken > 0 && ($0.iFramesName == nil || $0.iFrames.taken > 0) })
        else { return requests }
        let request = self.request(
            .multivariant(version: self.multivariantDocument.version), self.multivariantName,
            .put(.bytes(Array(self.multivariant.utf8))), Self.playlistType,
            "max-age=\(self.tracks.first?.window.targetDuration ?? 1)")
        self.multivariantDocument.lane.request = request.id
        return requests + [request]
    }

    /// Marks every playlist as changed.
    mutating func changeLists() {
        for index in self.tracks.indices {
            self.tracks[index].playlist.change()
            if self.tracks[index].iFramesName != nil { self.tracks[index].iFrames.change() }
        }
    }

    /// Returns the requests for I-frame playlists, each of which waits until the store has the newest version of its
    /// media playlist.
    private mutating func nextIFrames(_ now: Int64) -> [UploadRequest] {
        var requests: [UploadRequest] = []
        for index in self.tracks.indices {
            let track = self.tracks[index]
            guard let name = track.iFramesName, !track.playlist.isDue, track.iFrames.isDue,
                track.iFrames.lane.isFree(at: now)
            else { continue }
            let bytes = Array(MediaPlaylist(iFramesOf: track.window).rendered().utf8)
            let request = self.request(
                .iFrames(track: index, version: track.iFrames.version), name, .put(.bytes(bytes)), Self.playlistType,
                "max-age=\(max(1, track.window.targetDuration / 2))",
                UploadRules.attempt * Int64(1 + bytes.count / UploadRules.attemptBytes))
            self.tracks[index].iFrames.lane.request = request.id
            requests.append(request)
        }
        return requests
    }

    /// Returns the request for the next deletion; `nil` if none is due or the store is failing. Deletions are sent one at a
    /// time, since nothing waits for them.
    mutating func nextDeletion(_ now: Int64) -> UploadRequest? {
        guard let name = self.deletions.first, self.deletionLane.isFree(at: now), !self.isFailing else { return nil }
        let request = self.request(.deletion(name: name), name, .delete, "", "")
        self.deletionLane.request = request.id
        return request
    }

    /// Cancels a pending deletion, if there is one, because the object is needed again.
    ///
    /// - Returns: False while the deletion is in flight, because it could take effect after a new upload.
    mutating func withholdDeletion(of name: String) -> Bool {
        guard !self.aims.values.contains(.deletion(name: name)) else { return false }
        // Failed attempts of this deletion do not count for the next one.
        if self.deletions.first == name { self.deletionLane.succeeded() }
        self.deletions.removeAll { $0 == name }
        self.inherited.removeAll { $0 == name }
        return true
    }

    mutating func answeredDeletion(of name: String, _ outcome: UploadOutcome, _ now: Int64, _ jitter: Int64) {
        self.deletionLane.answered(outcome, now, jitter)
        let isOver = outcome == .done || self.deletionLane.failures >= UploadRules.deletionAttempts
        guard isOver, self.deletions.first == name else { return }
        self.deletions.removeFirst()
        self.deletionLane.succeeded()
    }
}
