import HLS
import MediaTypes

/// What the store has of the playlists of the whole window and of the archive's journal.
struct WholeWindowFiles: Sendable {
    /// Media time in nanoseconds at which the playlists were last written, or could not be written; `nil` before that.
    var writtenAt: Int64?
    /// Whether the playlists list files that may be deleted earlier than planned, so that they are written with the next
    /// segment.
    var isStale = false
    /// Text of the multivariant playlist that was last written.
    var multivariant: [UInt8] = []
    /// Number of rows in the journal; `nil` if the journal must be written anew.
    var journalRows: Int?
}

/// The texts of the playlists of the whole window.
struct WholeWindowTexts {
    let media: [(name: String, text: [UInt8])]
    let multivariant: [UInt8]

    init(_ publication: Publication) {
        self.media = publication.wholeWindowPlaylists.map { ($0.name, Array($0.text.utf8)) }
        self.multivariant =
            self.media.isEmpty ? [] : Array(publication.wholeWindowMultivariant.rendered().utf8)
    }
}

/// Writes the playlists of the whole window and the archive's journal, which are not written with every segment.
///
/// Order: the journal is written before the state file that no longer has its rows, and the playlists after the live
/// ones. If a worker is killed in between, both the journal and the state file have some rows, which are then read once.
extension PublicationWriter {
    /// Up to this number of rows, a journal only grows. A longer one is written anew when fewer than half of its rows are
    /// still needed.
    private static let shortestJournal = 1_024

    /// Whether the playlists of the whole window are to be written with this publish: the first time, once per
    /// ``HLSOutputSettings/archivePace``, at the end, and after the number of listed segments was limited or space was
    /// freed, since files are then deleted earlier.
    var isWholeWindowDue: Bool {
        guard self.publication.archive != nil else { return false }
        guard let last = self.wholeWindow.writtenAt else { return true }
        let pace = Int64(HLSOutputSettings.archivePace) &* TimeMath.nanoseconds
        return self.publication.isEnded || self.wholeWindow.isStale || self.publication.mediaTime &- last >= pace
    }

    /// Writes the rows that the journal does not have. If that fails, they stay in the state file and the journal is
    /// written anew later.
    mutating func writeJournal() {
        guard let archive = self.publication.archive else { return }
        do throws(MediaError) {
            guard let name = archive.journal, let rows = self.wholeWindow.journalRows,
                rows + archive.pending.count <= max(Self.shortestJournal, 2 * archive.rowCount)
            else {
                if !archive.pending.isEmpty || archive.journal != nil { try self.putWholeJournal() }
                return
            }
            guard !archive.pending.isEmpty else { return }
            try self.store.append(name, ArchiveRow.journal(archive.pending))
            self.wholeWindow.journalRows = rows + archive.pending.count
            self.publication.archive?.noteStored()
        } catch {
            self.wholeWindow.journalRows = nil
            self.events.append(.outputFailed(error))
        }
    }

    /// Writes this run's journal with all rows.
    mutating func putWholeJournal() throws(MediaError) {
        guard let archive = self.publication.archive else { return }
        let name = ArchiveJournal.name(incarnation: self.publication.incarnation)
        let rows = archive.rows(besides: Set(self.publication.dateRanges.ranges.map(\.id)))
        try self.store.put(name, bytes: ArchiveRow.journal(rows), durable: true)
        self.publication.archive?.journal = name
        self.publication.archive?.noteStored()
        self.wholeWindow.journalRows = rows.count
    }

    /// Shows the playlists of the whole window to viewers and writes them. A failure must not delay the live playlists:
    /// unless the room has ended, it is only reported, and another attempt follows after the usual time, or with the
    /// next segment if the playlists are stale.
    ///
    /// - Returns: `superseded` if a newer worker has claimed the room.
    /// - Throws: The store's errors, if the room has ended.
    mutating func tryWholeWindow() throws(MediaError) -> Result {
        do throws(MediaError) {
            return try self.publishWholeWindow()
        } catch {
            guard !self.publication.isEnded else { throw error }
            self.wholeWindow.writtenAt = self.publication.mediaTime
            self.events.append(.outputFailed(error))
            return .done
        }
    }

    private mutating func publishWholeWindow() throws(MediaError) -> Result {
        let texts = WholeWindowTexts(self.publication)
        // Viewers get the new playlists even if a full disk prevents the writes: files that are no longer listed are then
        // deleted.
        self.showWholeWindow(texts)
        for (name, text) in texts.media {
            guard self.isStillOurs() else { return .superseded }
            try self.store.put(name, bytes: text)
        }
        if !texts.media.isEmpty, texts.multivariant != self.wholeWindow.multivariant {
            guard self.isStillOurs() else { return .superseded }
            try self.store.put(self.publication.wholeWindowMultivariantName, bytes: texts.multivariant)
            self.wholeWindow.multivariant = texts.multivariant
        }
        self.wholeWindow.writtenAt = self.publication.mediaTime
        self.wholeWindow.isStale = false
        return .done
    }

    /// Makes the playlists of the whole window available to viewers.
    mutating func showWholeWindow(_ texts: WholeWindowTexts) {
        guard !texts.media.isEmpty else { return }
        let pace = HLSOutputSettings.archivePace
        for (name, text) in texts.media {
            self.objects[name] = PublishedObject(
                body: .bytes(text), contentType: PublishedObject.playlistType, cacheControl: "max-age=\(pace / 2)")
        }
        self.objects[self.publication.wholeWindowMultivariantName] = PublishedObject(
            body: .bytes(texts.multivariant), contentType: PublishedObject.playlistType,
            cacheControl: "max-age=\(pace)")
        self.show(self.objects)
    }
}
