import Glibc

/// An empty, private directory for one test. The test removes what it puts in.
package struct TemporaryDirectory: Sendable {
    package let path: String

    package init() throws(HTTPProbe.Failure) {
        var template = Array("/tmp/tandem-test-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { space in
            space.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let made else { throw HTTPProbe.Failure.notHTTP("mkdtemp failed") }
        self.path = made
    }

    /// Removes the directory, which must be empty.
    package func remove() {
        rmdir(self.path)
    }
}
