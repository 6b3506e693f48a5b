import FoundationEssentials

/// Reads and writes text and JSON files.
enum Files {
    static func text(at path: String) throws(BenchError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else { throw BenchError("cannot read \(path)") }
        return String(decoding: data, as: UTF8.self)
    }

    static func read<T: Decodable>(_ type: T.Type, from path: String) throws(BenchError) -> T {
        guard let data = FileManager.default.contents(atPath: path) else { throw BenchError("cannot read \(path)") }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw BenchError("\(path): \(error)")
        }
    }

    static func write(text: String, to path: String) throws(BenchError) {
        do {
            try Data(text.utf8).write(to: URL(filePath: path))
        } catch {
            throw BenchError("\(path): \(error)")
        }
    }

    /// The sorted names in a directory; empty if it cannot be read.
    static func names(in directory: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }

    static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    /// Creates an empty directory; replaces an existing one.
    static func emptyDirectory(_ path: String) throws(BenchError) {
        do {
            if self.exists(path) { try FileManager.default.removeItem(atPath: path) }
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw BenchError("\(path): \(error)")
        }
    }

    /// Writes JSON with line breaks and sorted keys, so that two results can be compared line by line.
    static func write(_ value: some Encodable, to path: String) throws(BenchError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try (encoder.encode(value) + Data("\n".utf8)).write(to: URL(filePath: path))
        } catch {
            throw BenchError("\(path): \(error)")
        }
    }

    /// Total size of the regular files in `directory` whose names satisfy `isWanted`, in bytes.
    static func size(of directory: String, where isWanted: (String) -> Bool) throws(BenchError) -> Int {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            throw BenchError("cannot list \(directory)")
        }
        return names.filter(isWanted).reduce(0) { total, name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            return total + ((attributes?[.size] as? any BinaryInteger).map { Int($0) } ?? 0)
        }
    }
}
