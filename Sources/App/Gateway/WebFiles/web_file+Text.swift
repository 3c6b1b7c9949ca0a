import CWebFiles

extension web_file {
    /// The file as text. Its bytes are part of the program and live as long as the process.
    var text: String {
        String(decoding: UnsafeRawBufferPointer(start: self.bytes, count: self.byte_count), as: UTF8.self)
    }
}
