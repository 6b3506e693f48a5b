import Libc
import CapacityPlan

/// Reads and writes the file with the measured speed of this machine.
enum CalibrationFile {
    /// Returns the given path, or the path in the user's cache directory; nil if there is no cache directory.
    ///
    /// Spec: XDG Base Directory Specification: relative paths in its variables are ignored.
    private static func path(_ named: String?) -> String? {
        if let named { return named }
        if let cache = self.variable("XDG_CACHE_HOME"), cache.hasPrefix("/") {
            return "\(cache)/tandem/calibration.json"
        }
        return self.variable("HOME").map { "\($0)/.cache/tandem/calibration.json" }
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the cost coefficients measured on this machine, or the reference coefficients if there is no
    /// measurement.
    ///
    /// - Throws: `ExitCode` 65 or 66 after writing the reason to standard error.
    static func read(_ named: String?) throws -> CostCoefficients {
        guard let path = self.path(named) else { return .reference }
        let bytes: [UInt8]
        do {
            bytes = try FileBytes.read(path)
        } catch {
            guard named != nil else { return .reference }
            StandardError.write(
                "\(path) cannot be read. Fix: check the path, or create the file with tandem plan --calibrate --calibration FILE\n"
            )
            throw ExitStatus.fileMissing.code
        }
        do {
            return try CostCoefficients(json: bytes)
        } catch {
            StandardError.write("\(path): \(error.place) \(error.what). Fix: \(error.fix)\n")
            throw ExitStatus.pipelineInvalid.code
        }
    }

    /// Measures this machine and stores the result.
    static func measure(into named: String?) throws {
        guard let path = self.path(named) else {
            StandardError.write("there is no cache directory. Fix: specify a file with --calibration\n")
            throw ExitStatus.cannotCreate.code
        }
        let coefficients: CostCoefficients
        do {
            coefficients = try Calibration.measure { StandardError.write("\($0)\n") }
        } catch {
            StandardError.write("\(error)\n")
            throw ExitStatus(error).code
        }
        guard FileBytes.makeDirectories(above: path), FileBytes.write(coefficients.json, toFile: path) else {
            StandardError.write("\(path) cannot be written. Fix: specify another file with --calibration\n")
            throw ExitStatus.cannotCreate.code
        }
        StandardError.write("stored in \(path)\n")
    }
}

extension FileBytes {
    /// Creates the directories that contain a file; returns false if that fails.
    static func makeDirectories(above path: String) -> Bool {
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/").dropLast() {
            made += "/\(part)"
            if mkdir(made, 0o755) != 0, errno != EEXIST { return false }
        }
        return true
    }
}
