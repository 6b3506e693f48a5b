import HLS
import MediaKernels
import MediaTypes

/// Writes the state file and the playlists, and makes the listed files available to viewers.
extension PublicationWriter {
    /// Writes the state file, then the playlists, unless a newer worker has claimed the room.
    mutating func publish() -> Result {
        do {
            let store = self.store
            let result = try store.exclusively { () throws(MediaError) -> Result in
                guard !self.isSuperseded() else { return .superseded }
                let isWholeWindowDue = self.isWholeWindowDue
                if isWholeWindowDue { self.writeJournal() }
                try self.putState()
                // The state file has the new media sequence numbers: the live edge may list them even if a write below
                // fails.
                self.recorded(self.recordedMediaSequence)
                guard self.isShown || self.publication.nextMediaSequence >= self.firstListed else { return .done }
                self.isShown = true
                let texts = Texts(self.publication)
                self.showPlaylists(texts)
                for (name, text) in texts.media {
                    guard self.isStillOurs() else { return .superseded }
                    try store.put(name, bytes: text)
                }
                guard self.isStillOurs() else { return .superseded }
                if let keeper = self.keeper {
                    // Recordings do not have the files of subtitle renditions.
                    let text = self.publication.multivariantOfAll.withoutSubtitles.rendered()
                    if text != self.keptMultivariant { keeper.keep(multivariant: text) }
                    self.keptMultivariant = text
                }
                if texts.multivariant != self.writtenMultivariant {
                    try store.put(self.publication.settings.multivariantName, bytes: texts.multivariant)
                    self.writtenMultivariant = texts.multivariant
                }
                return isWholeWindowDue ? try self.tryWholeWindow() : .done
            }
            guard result == .done else { return self.giveWay() }
        } catch {
            self.events.append(.outputFailed(error))
            self.isStale = true
            return .done
        }
        self.isStale = false
        guard self.isShown else { return .done }
        self.isEndListed = self.publication.isEnded
        self.announce()
        self.deleteExpired()
        return .done
    }

    private mutating func announce() {
        let now = self.clock.now()
        for segment in self.unannounced {
            self.events.append(
                .segmentPublished(
                    PublishedSegment(
                        mediaSequence: segment.mediaSequence, programDate: segment.programDate,
                        duration: segment.duration,
                        bytes: segment.bytes, publishedAt: now, frames: segment.frames,
                        isSlate: segment.isSlate)))
        }
        self.unannounced.removeAll()
    }

    private mutating func deleteExpired() { self.delete(self.publication.takeExpired()) }

    mutating func delete(_ expired: [String]) {
        if !expired.isEmpty {
            for name in expired { self.objects[name] = nil }
            self.show(self.objects)
        }
        // An initialization segment that could not be deleted when it expired may be in use again.
        let needed: Set<String> =
            self.undeleted.isEmpty ? [] : Set(self.publication.maps.map(\.uri))
        let names = self.undeleted.filter { !needed.contains($0) } + expired
        guard !names.isEmpty else { return }
        self.undeleted = self.store.removeAll(names) { self.events.append(.outputFailed($0)) }
    }

    mutating func putState() throws(MediaError) {
        var state = self.publication.state
        state.ended = state.ended && self.isEndListed
        let bytes = Array(state.json.utf8)
        try self.store.put(StateFile.name, bytes: bytes, durable: true)
        self.writtenState = bytes
        self.isStateStale = false
        self.recordedMediaSequence = self.publication.nextMediaSequence
    }

    // MARK: Objects for viewers

    mutating func add(_ uri: String, _ byteCount: Int, of track: TrackPublication) {
        guard let path = self.store.path(of: uri) else { return }
        self.objects[uri] = PublishedObject(
            body: .file(path: path, size: track.storedSize(byteCount)), contentType: track.contentType,
            cacheControl: PublishedObject.immutable)
    }

    mutating func add(_ map: InitializationSegment, _ bytes: [UInt8], of track: TrackPublication) {
        guard self.objects[map.uri] == nil else { return }
        self.objects[map.uri] = PublishedObject(
            body: .bytes(bytes), contentType: track.contentType, cacheControl: PublishedObject.immutable)
    }

    /// Makes a file of a subtitle rendition available to viewers.
    mutating func addSubtitles(named uri: String, size: Int) {
        guard let path = self.store.path(of: uri) else { return }
        self.objects[uri] = PublishedObject(
            body: .file(path: path, size: size), contentType: SubtitleSegment.contentType,
            cacheControl: PublishedObject.immutable)
    }

    /// The bytes of a subtitle rendition's segment as they are stored; `nil` if the rendition does not have it.
    func subtitleBytes(
        of rendition: SubtitlePublication, _ number: Int64, start: Int64, duration: MediaDuration
    ) -> PacketMemory? {
        guard let subtitles = self.subtitles, rendition.has(number) else { return nil }
        return rendition.sealed(
            subtitles.bytes(rendition.name, number, start: start, duration: duration), of: number)
    }

    /// The texts of the playlists, rendered once for both viewers and store, because the playlists of a day are
    /// megabytes.
    struct Texts {
        let media: [(name: String, text: [UInt8])]
        let multivariant: [UInt8]

        init(_ publication: Publication) {
            self.media = publication.mediaPlaylists.map { ($0.name, Array($0.text.utf8)) }
            self.multivariant = Array(publication.multivariant.rendered().utf8)
        }
    }

    mutating func showPlaylists(_ texts: Texts) {
        let archived = self.publication.archive?.takeNames() ?? []
        self.note(self.publication)
        // From now on, archived segments are looked up in the archive: a day's segments need not be entries of a
        // dictionary that is copied with each segment.
        let subtitles =
            self.publication.subtitleNames(like: archived) + self.publication.formerSubtitleNames(like: archived)
        for name in archived + subtitles { self.objects[name] = nil }
        let target = self.publication.grid.targetDuration
        for (name, text) in texts.media {
            self.objects[name] = PublishedObject(
                body: .bytes(text), contentType: PublishedObject.playlistType,
                cacheControl: "max-age=\(max(1, target / 2))")
        }
        self.objects[self.publication.settings.multivariantName] = PublishedObject(
            body: .bytes(texts.multivariant), contentType: PublishedObject.playlistType,
            cacheControl: "max-age=\(target)")
        self.show(self.objects)
    }
}
