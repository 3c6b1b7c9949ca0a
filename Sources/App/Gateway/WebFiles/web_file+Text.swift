import CWebFiles

extension web_file {
    /// The file as text.
    var text: String { String(decoding: buffer, as: UTF8.self) }

    /// The file's bytes. They are part of the program and live as long as the process.
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: byte_count) }
}
