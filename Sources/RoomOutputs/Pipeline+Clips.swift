package import MediaTypes
import Packager
package import PipelineSpec
import Recording

extension HLSOutput {
    /// The directory in which segments are held for clips.
    var clipHoldDirectory: String { "\(self.path)/\(Pipeline.clipDirectoryName)" }
}

extension Pipeline {
    /// Name of the subdirectory for clips in another output's directory.
    fileprivate static let clipDirectoryName = RecordedNames.clips

    /// The directory in which clips are made; nil if it would lie unencrypted next to encrypted segments.
    var clipDirectory: String? {
        guard let output = self.hls else { return nil }
        if let path = output.clipPath { return path }
        if output.encryption == nil { return output.clipHoldDirectory }
        return self.record.map { "\($0.path)/\(Self.clipDirectoryName)" }
    }

    /// The directory of segments held for clips, then the directory of clips, if it is another.
    var clipDirectories: [String] {
        guard let held = self.hls?.clipHoldDirectory else { return [] }
        return [held] + (self.clipDirectory.map { $0 == held ? [] : [$0] } ?? [])
    }

    /// Removes the temporary files of a worker that was killed while it made clips.
    package func removeClipLeftovers() {
        for (index, directory) in self.clipDirectories.enumerated() {
            ClipWriter.removeLeftovers(of: self.room.roomID, in: directory, hasHolds: index == 0)
        }
    }

    /// Rejects directories in which unencrypted media would lie next to encrypted media.
    ///
    /// - Throws: ``MediaError/Code/rejected`` for a directory that lies in the HLS output's, ``MediaError/Code/notCreatable``.
    package func checkClearDirectories() throws(MediaError) {
        guard let output = self.hls, output.encryption != nil else { return }
        let served = [output.path] + self.transports.map(\.path)
        for directory in served { try DirectoryStore(directory: directory).prepare() }
        for (word, path) in [("record.path", self.record?.path), ("hls.clipPath", output.clipPath)] {
            guard let path else { continue }
            let place = DirectoryStore(directory: path)
            try place.prepare()
            for directory in served where place.lies(in: DirectoryStore(directory: directory)) {
                throw MediaError(
                    .rejected, "\(path) would hold unencrypted what is encrypted in \(directory), and lies in it",
                    at: word, fix: "choose a directory outside of it that no viewer can reach")
            }
        }
    }
}
