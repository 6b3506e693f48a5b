import HLS
import Libc
import MediaKernels
import MediaTypes
import Packager
import Threading

/// One MP4 file of a source's recording on disk, while it is written.
///
/// Every write appends one whole part. If a write fails, the file is cut back to the part before. The file is locked while
/// it is open, so that a successor does not take it for that of a killed worker.
struct SourceMovieFile: ~Copyable {
    private let descriptor: Int32
    private let durationOffset: Int64
    private let folder: RecordingFolder
    private(set) var size: Int64 = 0
    private var index: [SourceMovieHeader.IndexEntry] = []

    /// Most key frames in the index: a day with two per second.
    private static let mostEntries = 172_800

    /// Creates the file; an existing one is not replaced.
    ///
    /// - Throws: ``MediaError/Code/rejected`` if the name exists, ``MediaError/Code/outputLost``,
    ///   ``MediaError/Code/diskFull``.
    init(_ name: String, in folder: RecordingFolder, header: [UInt8], durationOffset: Int) throws(MediaError) {
        let path = folder.full(name)
        self.folder = folder
        self.durationOffset = Int64(durationOffset)
        self.descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard self.descriptor >= 0 else {
            let number = errno
            if number == EEXIST {
                throw MediaError(
                    .rejected, "the file \(path) already exists", at: "recording", fix: "choose another directory")
            }
            throw folder.lost("cannot create \(path)", number)
        }
        // On a file system without locks, a successor may complete the file while it is still being written.
        flock(self.descriptor, LOCK_EX | LOCK_NB)
        guard FileWriting.write(header, to: self.descriptor) else {
            let number = errno
            unlink(path)
            throw folder.lost("cannot write \(path)", number)
        }
        self.size = Int64(header.count)
    }

    deinit { close(self.descriptor) }

    /// Appends a part.
    ///
    /// - Parameter keyTime: Presentation time of its first frame in ticks, if it begins with a key frame of a video track.
    mutating func append(_ part: PacketMemory, keyTime: Int64?) throws(MediaError) {
        guard FileWriting.write(part.bytes(in: 0..<part.count), to: self.descriptor) else {
            let number = errno
            // The part's beginning is removed, so that the file ends with a whole part.
            ftruncate(self.descriptor, off_t(self.size))
            throw self.folder.lost("cannot write the recording of a source", number)
        }
        if let keyTime, self.index.count < Self.mostEntries {
            self.index.append(SourceMovieHeader.IndexEntry(time: keyTime, offset: self.size))
        }
        self.size &+= Int64(part.count)
    }

    /// Writes the duration and the index, with which players seek. The file can be played without them, so failures are
    /// ignored.
    ///
    /// - Parameters:
    ///   - duration: In nanoseconds.
    ///   - video: Id of the first video track; nil if there is none.
    mutating func finish(duration: Int64, video: UInt32?) {
        self.size = Self.finish(
            self.descriptor, size: self.size, duration: duration, durationOffset: self.durationOffset, video: video,
            self.index)
    }

    fileprivate static func finish(
        _ descriptor: Int32, size: Int64, duration: Int64, durationOffset: Int64, video: UInt32?,
        _ index: [SourceMovieHeader.IndexEntry]
    ) -> Int64 {
        var size = size
        if let video {
            let bytes = SourceMovieHeader.index(track: video, index)
            if FileWriting.write(bytes, to: descriptor) {
                size &+= Int64(bytes.count)
            } else {
                ftruncate(descriptor, off_t(size))
            }
        }
        let box = SourceMovieHeader.duration(duration)
        pwrite(descriptor, box, box.count, off_t(durationOffset))
        fdatasync(descriptor)
        return size
    }

    /// Completes the files of a source that killed workers have left: cuts each after its last whole part, and completes
    /// its sidecar. A file without a whole part is deleted. Files that a living worker writes are not touched.
    ///
    /// - Parameter prefix: Beginning of the names of the source's files.
    /// - Returns: The sidecars that were completed.
    static func recover(_ source: SourceID, of roomID: String, prefix: String, in folder: RecordingFolder)
        -> [JSONValue]
    {
        var names: [String] = []
        DiskUse.forEachEntry(of: folder.path, prefixes: [prefix]) { entry in
            if !entry.isDirectory, entry.name.hasSuffix(SourceRecordingNames.sidecar) { names.append(entry.name) }
        }
        return names.sorted().compactMap { self.recover(sidecar: $0, source, of: roomID, in: folder) }
    }

    private static func recover(
        sidecar name: String, _ source: SourceID, of roomID: String, in folder: RecordingFolder
    ) -> JSONValue? {
        guard let text = folder.read(name), let node = JSONParser.parse(text).root,
            SourceSidecar.isOpen(node, of: source, in: roomID)
        else { return nil }
        let movie = name.dropLast(SourceRecordingNames.sidecar.count) + SourceRecordingNames.movie
        let path = folder.full(String(movie))
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            // The file was deleted.
            if errno == ENOENT { folder.remove(name) }
            return nil
        }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { return nil }
        let size = Int64(lseek(descriptor, 0, SEEK_END))
        let scan = SourceMovieScan(size: size) { Self.read(descriptor, $0) }
        guard let offset = scan.durationOffset, scan.tracks.contains(where: { $0.frames > 0 }) else {
            // Killed before the first part.
            unlink(path)
            folder.remove(name)
            return nil
        }
        guard ftruncate(descriptor, off_t(scan.end)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else { return nil }
        let video = scan.tracks.firstIndex(where: \.isVideo).map { UInt32($0) + 1 }
        let finished = Self.finish(
            descriptor, size: scan.end, duration: scan.duration, durationOffset: offset, video: video, scan.index)
        guard let json = SourceSidecar.completed(text, of: source, in: roomID, scan, size: finished),
            (try? folder.put(name, Array((json.text(pretty: true) + "\n").utf8))) != nil
        else { return nil }
        return json
    }

    private static func read(_ descriptor: Int32, _ range: Range<Int64>) -> [UInt8]? {
        guard let count = Int(exactly: range.upperBound &- range.lowerBound), count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, off_t(range.lowerBound))
        guard read >= 0 else { return nil }
        bytes.removeLast(count - read)
        return bytes
    }
}

/// The names of the files of sources' recordings.
package enum SourceRecordingNames {
    package static let movie = ".mp4"
    package static let sidecar = ".json"

    /// Returns the id of a publication whose recording begins at a wall-clock time in nanoseconds.
    package static func publicationID(at time: Int64) -> String {
        String(ProgramDate.format(time).filter { $0.isLetter || $0.isNumber })
    }
}
