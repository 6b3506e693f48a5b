import HLS
import MediaKernels
import MediaTypes

/// The MPEG-TS version of an HLS output, for devices that only support old HLS: each segment contains video and audio
/// of a rendition, listed in playlists of version 3. The segments have the same numbers as in the HLS output and are
/// made from its published fragments.
///
/// A value: it takes the listing of the HLS output and a store, and produces files and playlists. The segments of a
/// rendition are made in order. A segment is a gap if it is one in the HLS output, if its media cannot be read, if its
/// file cannot be written or is lost, or if its listing was dropped because the store is too slow.
///
/// Segments of an encrypted room are encrypted as a whole. They use the keys of the rendition's video track, or of its
/// audio track if it has no video, but initialization vectors of their own. Spec: RFC 8216 §4.3.2.4, §5.2.
struct MPEGTSPublication: Sendable {
    /// One MPEG-TS media playlist: a video track with its audio, or only audio.
    struct Rendition: Sendable {
        let name: String
        var video: TrackDescription?
        let audio: TrackDescription?
        var window: PlaylistWindow
        var muxer = MPEGTSMuxer()
        /// Reorder delay in ticks of the video timescale; see ``MPEGTSReading/units(_:kind:timescale:reorder:)``.
        var reorder: Int64
        /// Whether the next segment does not continue a segment that this worker has made, because it is the first or
        /// follows a gap: then its packets are marked as discontinuous.
        var isFirst = true
        /// The last audio configuration; `nil` before any audio.
        var audioConfiguration: AudioSpecificConfig?

        var playlistName: String { "\(self.name).m3u8" }
        var main: TrackDescription? { self.video ?? self.audio }
    }

    /// Placeholder for `EXT-X-MAP`, which MPEG-TS playlists do not have.
    private static let noMap = InitializationSegment(uri: "none")
    /// Reorder depth in frames that is assumed until the encoder shows a larger one.
    private static let usualReorder: Int64 = 2
    /// Name of the file with the room's origin, which tells to which room the files in the directory belong.
    static let noteName = ".origin"

    private let grid: OutputGrid
    private let multivariantName: String
    private let title: String?
    private let contentID: String?
    private let captions: [MultivariantPlaylist.Captions]
    /// Whether a timed metadata stream is declared from the start, since metadata may arrive at any time; false for
    /// offline jobs.
    private let hasMetadata: Bool
    private let descriptions: [(video: TrackDescription?, audio: TrackDescription?)]
    /// Encryption keys; `nil` if segments are not encrypted.
    private let keys: SegmentKeys?
    private(set) var renditions: [Rendition] = []
    private var origin: Int64?
    /// Media sequence number of the next segment to make.
    private var next: Int64 = 0
    private var isEnded = false
    /// Whether the ended playlists are in the store. Until then the last listing may be processed again.
    private(set) var isEndWritten = false
    /// Whether existing files were written by a previous worker of this room and can be used; only for the first
    /// listing.
    private var trustsFiles = false
    /// Whether segments were lost and one of them may have begun with a discontinuity: the next segment then gets one.
    private var isBroken = false
    private var writtenMultivariant: [UInt8] = []
    /// Codec configurations by URI of the initialization segment.
    private var maps: [String: (video: AVCConfiguration?, audio: AudioSpecificConfig?)] = [:]
    /// Objects for viewers, by name.
    private(set) var objects: [String: PublishedObject] = [:]
    /// Errors since the last ``takeFailures()``.
    private(set) var failures: [MediaError] = []
    /// Names of files that could not be deleted when they expired, oldest first.
    private var undeleted: [String] = []
    /// Number of segments made, and their bytes.
    private(set) var made: Int64 = 0
    private(set) var madeBytes: Int64 = 0
    /// Number of media sequence numbers that are a gap in the MPEG-TS playlists but not in the HLS output.
    private(set) var lost: Int64 = 0

    /// Makes an empty publication for the tracks and variants of an HLS output.
    ///
    /// - Parameters:
    ///   - settings: Settings of the HLS output.
    ///   - tracks: Tracks of the HLS output.
    ///   - keys: Encryption keys of the HLS output; `nil`: segments are not encrypted.
    init(settings: HLSOutputSettings, tracks: [TrackDescription], multivariantName: String, keys: SegmentKeys? = nil) {
        self.keys = keys
        self.grid = settings.grid
        self.multivariantName = multivariantName
        self.title = settings.title
        self.contentID = settings.contentID
        self.captions = settings.captions
        self.hasMetadata = !settings.waitsForStore
        func track(_ name: String?) -> TrackDescription? { name.flatMap { name in tracks.first { $0.name == name } } }
        let audioTracks = tracks.filter { $0.kind == .audio }
        let videoTracks = tracks.filter { $0.kind == .video }
        let all: [(video: TrackDescription?, audio: TrackDescription?)] =
            settings.variants.map { variants in variants.map { (track($0.video), track($0.audio)) } }
            ?? (videoTracks.isEmpty ? audioTracks.map { (nil, $0) } : videoTracks.map { ($0, audioTracks.first) })
        // With several audio tracks a rendition uses the first one, since MPEG-TS playlists here offer no choice.
        var seen: Set<String> = []
        self.descriptions = all.filter { pair in
            (pair.video ?? pair.audio).map { seen.insert($0.name).inserted } ?? false
        }
    }

    mutating func takeFailures() -> [MediaError] {
        defer { self.failures = [] }
        return self.failures
    }

    // MARK: Listing

    /// Takes over a listing of the HLS output: makes the new segments, writes the playlists and deletes expired files.
    ///
    /// - Parameter files: Reads the media of the HLS output.
    mutating func list(_ listing: OutputListing, store: any SegmentStore, files: some ClearFiles) {
        if self.origin == nil { self.begin(listing, store: store) }
        guard listing.origin == self.origin, !self.isEndWritten else { return }
        self.restorePlace(store)
        for number in self.next..<max(self.next, listing.nextMediaSequence) {
            self.add(number, listing, store: store, files: files)
        }
        self.trustsFiles = false
        if listing.isEnded {
            self.isEnded = true
            for index in self.renditions.indices { self.renditions[index].window.end() }
        }
        self.limit(listing)
        self.declare(listing)
        self.trimHeads()
        let isWritten = self.publish(listing, store: store)
        self.removeExpired(store)
        guard self.isEnded, isWritten else { return }
        self.settle(store: store)
        self.isEndWritten = true
    }

    /// Recreates the directory if it was moved away, emptied or mounted over: playlists are written again, and lost
    /// segments become gaps.
    private mutating func restorePlace(_ store: any SegmentStore) {
        guard !self.writtenMultivariant.isEmpty, let origin = self.origin, !store.contains(self.multivariantName) else {
            return
        }
        do throws(MediaError) {
            try store.prepare()
            try store.put(Self.noteName, bytes: Array("\(origin)\n".utf8))
        } catch {
            return self.failures.append(error)
        }
        self.writtenMultivariant = []
        var numbers: Set<Int64> = []
        for index in self.renditions.indices {
            let lost = self.renditions[index].window.segments.filter { !$0.gap && !store.contains($0.uri) }
            self.renditions[index].window.lose(Set(lost.map(\.uri)))
            self.renditions[index].isFirst = true
            for segment in lost { self.objects[segment.uri] = nil }
            numbers.formUnion(lost.map(\.mediaSequence))
        }
        self.lost &+= Int64(numbers.count)
        self.failures.append(
            MediaError(
                .outputLost,
                "the directory of the MPEG-TS output was moved away, emptied or mounted over: "
                    + "\(numbers.count) segments are lost",
                at: "hls", fix: "do not move, empty or mount over the directory while the room runs"))
    }

    /// Flushes all listed files to disk after the room has ended: an orchestrator that learns that the room has ended
    /// may stop the machine.
    private mutating func settle(store: any SegmentStore) {
        let files = self.renditions.flatMap { rendition in
            rendition.window.segments.filter { !$0.gap }.map(\.uri) + [rendition.playlistName]
        }
        do throws(MediaError) {
            try store.synchronize(files + [self.multivariantName])
        } catch {
            self.failures.append(error)
        }
    }

    /// Takes over the video bit rates that the HLS output declares.
    private mutating func declare(_ listing: OutputListing) {
        for index in self.renditions.indices {
            let name = self.renditions[index].video?.name
            guard let rates = listing.tracks.first(where: { $0.name == name })?.rates else { continue }
            self.renditions[index].video?.rates = rates
        }
    }

    /// Takes over the HLS output's limit of listed segments, which it has when disk space is short.
    private mutating func limit(_ listing: OutputListing) {
        for index in self.renditions.indices {
            let name = self.renditions[index].name
            guard let track = listing.tracks.first(where: { $0.name == name }),
                track.mostSegments != nil || self.renditions[index].window.mostSegments != nil
            else { continue }
            self.renditions[index].window.limit(to: track.mostSegments)
        }
    }

    private mutating func begin(_ listing: OutputListing, store: any SegmentStore) {
        self.origin = listing.origin
        // The files of another room may have the same names.
        let note = Array("\(listing.origin)\n".utf8)
        self.trustsFiles = store.read(Self.noteName) == note
        let firsts = listing.tracks.map { $0.segments.first?.mediaSequence ?? listing.nextMediaSequence }
        self.next = firsts.max() ?? listing.nextMediaSequence
        for pair in self.descriptions {
            guard let main = pair.video ?? pair.audio,
                let track = listing.tracks.first(where: { $0.name == main.name })
            else { continue }
            let before = track.segments.filter { $0.mediaSequence < self.next }
            let window = PlaylistWindow(
                style: track.style, targetDuration: track.targetDuration,
                slackSeconds: Int(track.slack / TimeMath.nanoseconds), nextMediaSequence: self.next,
                discontinuitySequence: track.discontinuitySequence + Int64(before.count(where: \.discontinuity)),
                retired: track.retired.map {
                    RetiredSegment(
                        uri: Self.name(of: $0.uri), map: Self.noMap, deleteAt: $0.deleteAt, gap: $0.gap, byteCount: 0)
                }, longestDuration: track.longestDuration)
            let isPlain =
                pair.video.flatMap { AVCConfiguration(extradata: $0.parameters.configuration) }?.sequence.profile == 66
            self.renditions.append(
                Rendition(
                    name: main.name, video: pair.video, audio: pair.audio, window: window,
                    reorder: isPlain
                        ? 0 : Self.usualReorder * OutputGrid.ticksPerFrame * Int64(pair.video?.frameStep ?? 1)))
        }
        guard !self.trustsFiles else { return self.showRetired(store) }
        for rendition in self.renditions { Self.removeFiles(listedIn: rendition.playlistName, store) }
        do throws(MediaError) { try store.put(Self.noteName, bytes: note) } catch { self.failures.append(error) }
    }

    /// Lets viewers request the files of segments that are no longer listed but may still be requested, including those
    /// of previous workers. Files that `store` does not have, or not completely, are left out.
    private mutating func showRetired(_ store: any SegmentStore) {
        for segment in self.renditions.flatMap(\.window.retired) where !segment.gap {
            if let size = store.size(of: segment.uri), self.isWhole(size) { self.show(file: segment.uri, size, store) }
        }
    }

    /// Removes the files that another room's playlist of the same name lists.
    private static func removeFiles(listedIn playlist: String, _ store: any SegmentStore) {
        guard let text = store.read(playlist) else { return }
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where line.hasSuffix(".ts") {
            // A file that cannot be removed only takes up space.
            if TrackNames.isValid(String(line)) { try? store.remove(String(line)) }
        }
    }

    /// Returns the name of an MPEG-TS segment, derived from the unique name of the HLS output's segment.
    private static func name(of uri: String) -> String { uri.hasSuffix(".m4s") ? "\(uri.dropLast(4)).ts" : "\(uri).ts" }

    /// Makes and lists the segment with a media sequence number in every rendition.
    private mutating func add(
        _ number: Int64, _ listing: OutputListing, store: any SegmentStore, files: some ClearFiles
    ) {
        func segment(_ track: TrackDescription?) -> Segment? {
            guard let track, let listed = listing.tracks.first(where: { $0.name == track.name })?.segments,
                let last = listed.last?.mediaSequence
            else { return nil }
            let place = listed.count - 1 - Int(clamping: last &- number)
            return listed.indices.contains(place) ? listed[place] : nil
        }
        let wasBroken = self.isBroken
        self.isBroken = false
        var isLost = false
        defer { if isLost { self.lost &+= 1 } }
        for index in self.renditions.indices {
            let rendition = self.renditions[index]
            guard let main = segment(rendition.main) else {
                isLost = true
                self.lose(number, index)
                continue
            }
            let name = Self.name(of: main.uri)
            var size = 0
            if !main.gap {
                let audio = rendition.video == nil ? nil : segment(rendition.audio)
                if self.trustsFiles, let there = store.size(of: name), self.isWhole(there) {
                    size = there
                    self.renditions[index].isFirst = true
                } else if let bytes = self.make(index, main, audio, files) {
                    size = self.put(name, bytes, index, number, store)
                }
            }
            if size == 0 {
                self.renditions[index].isFirst = true
                if !main.gap { isLost = true }
            }
            let listed = Segment(
                mediaSequence: number, uri: name, start: main.start, duration: main.duration,
                programDate: main.programDate, map: Self.noMap, discontinuity: main.discontinuity || wasBroken,
                key: self.keys?.segmentKey(of: number, track: rendition.name, .transport), gap: size == 0,
                byteCount: size, independent: main.independent, publishedAt: main.publishedAt)
            self.append(listed, index)
            if size > 0 { self.show(file: name, size, store) }
        }
        self.next = number &+ 1
    }

    /// Whether a file of this size can be a complete segment: after a crash of the machine, a file is usually empty or
    /// has only whole pages of its content.
    private func isWhole(_ size: Int) -> Bool {
        size > 0 && (self.keys != nil || size.isMultiple(of: MPEGTSPacketWriter.packetSize))
    }

    /// Lists a segment with the same duration and number as in the HLS output.
    private mutating func append(_ segment: Segment, _ index: Int) {
        // Segments lost before the first known one are not listed at all.
        self.renditions[index].window.begin(at: segment.mediaSequence)
        do throws(MediaError) { try self.renditions[index].window.append(segment) } catch {
            self.failures.append(error)
        }
    }

    /// Lists a gap for a segment whose listing was dropped because the store is too slow. The gap is as long as the
    /// longest listed segment.
    private mutating func lose(_ number: Int64, _ index: Int) {
        let segments = self.renditions[index].window.segments
        guard let last = segments.last,
            let length = segments.max(by: { $0.duration.ticks < $1.duration.ticks })?.duration
        else { return }
        let start = last.start &+ last.duration.ticks
        self.isBroken = true
        self.renditions[index].isFirst = true
        self.append(
            Segment(
                mediaSequence: number, uri: "\(self.renditions[index].name)-\(number).ts", start: start,
                duration: length, programDate: last.programDate &+ last.duration.nanoseconds, map: Self.noMap,
                key: self.keys?.segmentKey(of: number, track: self.renditions[index].name, .transport), gap: true,
                byteCount: 0), index)
    }

    /// Encrypts a segment if the room is encrypted, and writes its file.
    ///
    /// - Returns: The size of the file; 0 if it could not be written.
    private mutating func put(
        _ name: String, _ bytes: [UInt8], _ index: Int, _ number: Int64, _ store: any SegmentStore
    ) -> Int {
        let clear = PacketMemory(bytes)
        let file =
            self.keys?.sealed([clear], of: number, track: self.renditions[index].name, .transport) ?? clear
        guard file.count > 0 else { return 0 }
        do throws(MediaError) {
            try store.put(name, [file], durable: false)
        } catch {
            self.failures.append(error)
            return 0
        }
        (self.made, self.madeBytes) = (self.made &+ 1, self.madeBytes &+ Int64(file.count))
        return file.count
    }

    // MARK: Media

    /// Makes the bytes of an MPEG-TS segment.
    ///
    /// - Returns: `nil` if the media of the HLS output cannot be read.
    private mutating func make(_ index: Int, _ main: Segment, _ audio: Segment?, _ files: some ClearFiles) -> [UInt8]? {
        let rendition = self.renditions[index]
        let kind: TrackKind = rendition.video == nil ? .audio : .video
        guard let bytes = files.segment(main, of: rendition.name), let map = self.configuration(main.map.uri, files),
            kind == .video ? map.video != nil : map.audio != nil
        else { return self.unreadable(main, index) }
        if kind == .video {
            self.renditions[index].reorder = max(rendition.reorder, MPEGTSReading.reorder(of: bytes))
        }
        guard
            var units = MPEGTSReading.units(
                bytes, kind: kind, timescale: Int64(main.duration.timescale),
                reorder: self.renditions[index].reorder)
        else { return self.unreadable(main, index) }
        units += MPEGTSReading.metadata(bytes)
        if kind == .audio { self.renditions[index].audioConfiguration = map.audio }
        if let audio, let track = rendition.audio {
            self.renditions[index].audioConfiguration =
                self.configuration(audio.map.uri, files)?.audio ?? rendition.audioConfiguration
            let frames = files.segment(audio, of: track.name).flatMap {
                MPEGTSReading.units($0, kind: .audio, timescale: Int64(audio.duration.timescale))
            }
            // Video without audio is better than a gap.
            if frames == nil, !audio.gap { _ = self.unreadable(audio, index) }
            units += frames ?? []
        }
        self.renditions[index].isFirst = false
        return self.renditions[index].muxer.segment(
            units,
            parameters: MPEGTSMuxer.Parameters(
                video: map.video, audio: self.renditions[index].audioConfiguration, hasMetadata: self.hasMetadata),
            isDiscontinuous: main.discontinuity || rendition.isFirst)
    }

    private mutating func unreadable(_ segment: Segment, _ index: Int) -> [UInt8]? {
        self.failures.append(
            MediaError(
                .outputLost, "\(segment.uri) cannot be read", at: "hls[\(self.renditions[index].name)]",
                fix: "check that the files in the directory of the hls output exist and can be read"))
        return nil
    }

    /// Returns the codec configuration of an initialization segment; `nil` if it cannot be read.
    private mutating func configuration(
        _ uri: String, _ files: some ClearFiles
    ) -> (video: AVCConfiguration?, audio: AudioSpecificConfig?)? {
        if let known = self.maps[uri] { return known }
        guard let bytes = files.initialization(uri) else { return nil }
        let facts = MPEGTSReading.configuration(bytes)
        guard facts.video != nil || facts.audio != nil else { return nil }
        // A room has only a few output sizes, so this limit is rarely reached.
        if self.maps.count >= 64 { self.maps.removeAll() }
        self.maps[uri] = facts
        return facts
    }

    // MARK: Playlists

    /// Writes the playlists.
    ///
    /// - Returns: False if a write failed; true also if there is no segment to list yet.
    private mutating func publish(_ listing: OutputListing, store: any SegmentStore) -> Bool {
        guard self.renditions.contains(where: { !$0.window.segments.isEmpty }) else { return true }
        let target = self.grid.targetDuration
        do throws(MediaError) {
            for rendition in self.renditions {
                var playlist = MediaPlaylist(rendition.window, dateRanges: listing.dateRanges)
                playlist.hasMaps = false
                let text = Array(playlist.rendered().utf8)
                try store.put(rendition.playlistName, bytes: text)
                self.show(rendition.playlistName, text, seconds: max(1, target / 2))
            }
            let text = Array(self.multivariant.rendered().utf8)
            guard text != self.writtenMultivariant else { return true }
            try store.put(self.multivariantName, bytes: text)
            self.writtenMultivariant = text
            self.show(self.multivariantName, text, seconds: target)
            return true
        } catch {
            self.failures.append(error)
            return false
        }
    }

    private mutating func show(_ name: String, _ text: [UInt8], seconds: Int) {
        self.objects[name] = PublishedObject(
            body: .bytes(text), contentType: PublishedObject.playlistType, cacheControl: "max-age=\(seconds)")
    }

    private mutating func show(file name: String, _ size: Int, _ store: any SegmentStore) {
        guard let path = store.path(of: name) else { return }
        self.objects[name] = PublishedObject(
            body: .file(path: path, size: size), contentType: "video/mp2t", cacheControl: PublishedObject.immutable)
    }

    var multivariant: MultivariantPlaylist {
        let variants = self.renditions.map { rendition in
            let (video, audio) = (rendition.video, rendition.audio)
            let videoFrames = video.map { Int64(self.grid.fps) / Int64(max(1, $0.frameStep)) } ?? 0
            let audioFrames = audio == nil ? 0 : Int64(self.grid.sampleRate) / OutputGrid.samplesPerAudioFrame + 1
            let declared = DeclaredBandwidth(
                videoBitrate: video?.bitrate ?? 0, videoPeak: video?.maxBitrate ?? 0,
                videoBuffer: video?.burst ?? 0, audioBitrate: audio?.bitrate ?? 0,
                audioPeak: audio?.maxBitrate ?? 0, grid: self.grid
            ).inMPEGTS(videoFrames: videoFrames, audioFrames: audioFrames)
            return MultivariantPlaylist.Variant(
                uri: rendition.playlistName, bandwidth: declared.peak, averageBandwidth: declared.average,
                codecs: [video?.codecString, audio?.codecString].compactMap { $0 },
                resolution: video.map { ($0.width, $0.height) },
                frameRateMilli: video.map { Int64(self.grid.fps) * 1_000 / Int64(max(1, $0.frameStep)) },
                audioGroup: nil)
        }
        var playlist = MultivariantPlaylist(title: self.title, audio: [], variants: variants)
        playlist.contentID = self.contentID
        playlist.captions = self.captions
        // Version 3 allows decimals in EXTINF.
        playlist.version = 3
        return playlist
    }

    /// Removes old segments from the start of each playlist, as many as the windows of all playlists allow.
    private mutating func trimHeads() {
        let head = self.renditions.map { $0.window.mediaSequence + Int64($0.window.removableCount) }.min() ?? 0
        for index in self.renditions.indices {
            let count = head - self.renditions[index].window.mediaSequence
            if count > 0 { self.renditions[index].window.removeFirst(Int(count)) }
        }
    }

    /// Deletes files that players can no longer request, and those that could not be deleted before.
    private mutating func removeExpired(_ store: any SegmentStore) {
        var names = self.undeleted
        for index in self.renditions.indices {
            let last = self.renditions[index].window.segments.last
            let time =
                last.map {
                    TimeMath.rescale(
                        $0.start &+ $0.duration.ticks, from: Int64($0.duration.timescale), to: TimeMath.nanoseconds)
                } ?? 0
            for name in self.renditions[index].window.takeExpired(at: time, current: Self.noMap) {
                self.objects[name] = nil
                names.append(name)
            }
        }
        self.undeleted = store.removeAll(names) { self.failures.append($0) }
    }
}

/// Reads and decrypts media files of an output. The methods block, and return `nil` if the file cannot be read or
/// decrypted.
protocol ClearFiles {
    /// Reads an initialization segment.
    func initialization(_ uri: String) -> [UInt8]?

    /// Reads and decrypts a media segment.
    func segment(_ segment: Segment, of track: String) -> [UInt8]?
}

extension HLSPackager: ClearFiles {
    func initialization(_ uri: String) -> [UInt8]? { self.bytes(ofFile: uri) }

    func segment(_ segment: Segment, of track: String) -> [UInt8]? { self.clearBytes(of: segment, track: track) }
}
