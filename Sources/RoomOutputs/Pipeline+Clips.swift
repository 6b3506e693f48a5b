package import MediaTypes
import Packager
package import PipelineSpec
import Recording

extension HLSOutput {
    /// The directory in which segments are held until their clips are made.
    var clipHoldDirectory: String { "\(self.path)/\(Pipeline.clipDirectoryName)" }
}

extension Pipeline {
    /// Name of the subdirectory for clips in the directory of another output.
    fileprivate static let clipDirectoryName = RecordedNames.clips

    /// The directory in which clips are made; nil if unencrypted clips would lie next to encrypted segments, and without
    /// an HLS output.
    var clipDirectory: String? {
        guard let output = self.hls else { return nil }
        if let path = output.clipPath { return path }
        if output.encryption == nil { return output.clipHoldDirectory }
        return self.record.map { "\($0.path)/\(Self.clipDirectoryName)" }
    }

    /// The directory of segments held for clips, and the directory of clips if it is a different one.
    var clipDirectories: [String] {
        guard let held = self.hls?.clipHoldDirectory else { return [] }
        return [held] + (self.clipDirectory.map { $0 == held ? [] : [$0] } ?? [])
    }

    /// Removes the temporary clip files that a killed worker left.
    package func removeClipLeftovers() {
        for (index, directory) in self.clipDirectories.enumerated() {
            ClipWriter.removeLeftovers(of: self.room.roomID, in: directory, hasHolds: index == 0)
        }
    }

    /// Refuses directories for unencrypted recordings and clips that lie in the directory of encrypted segments.
    ///
    /// - Throws: ``MediaError/Code/rejected`` for such a directory; ``MediaError/Code/notCreatable`` if a directory cannot
    ///   be created.
    package func checkClearDirectories() throws(MediaError) {
        guard let output = self.hls, output.encryption != nil else { return }
        let served = [output.path] + self.transports.map(\.path)
        for directory in served { try DirectoryStore(directory: directory).prepare() }
        let records = self.sources.map { ("sources[\($0.id)].record.directory", $0.record?.directory) }
        for (word, path) in [("record.path", self.record?.path), ("hls.clipPath", output.clipPath)] + records {
            guard let path else { continue }
            let place = DirectoryStore(directory: path)
            try place.prepare()
            for directory in served where place.lies(in: DirectoryStore(directory: directory)) {
                throw MediaError(
                    .rejected, "\(path) is for unencrypted files, but lies in \(directory) with encrypted segments",
                    at: word, fix: "choose a directory outside of it that viewers cannot reach")
            }
        }
    }
}
