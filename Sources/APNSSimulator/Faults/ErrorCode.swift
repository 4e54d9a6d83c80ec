/// HTTP/2 error codes (RFC 9113, section 7).
enum ErrorCode: UInt32, CaseIterable, Sendable {
  case noError, protocolError, internalError, flowControlError, settingsTimeout, streamClosed
  case frameSizeError, refusedStream, cancel, compressionError, connectError, enhanceYourCalm
  case inadequateSecurity, http11Required

  var name: String {
    switch self {
    case .noError: "NO_ERROR"
    case .protocolError: "PROTOCOL_ERROR"
    case .internalError: "INTERNAL_ERROR"
    case .flowControlError: "FLOW_CONTROL_ERROR"
    case .settingsTimeout: "SETTINGS_TIMEOUT"
    case .streamClosed: "STREAM_CLOSED"
    case .frameSizeError: "FRAME_SIZE_ERROR"
    case .refusedStream: "REFUSED_STREAM"
    case .cancel: "CANCEL"
    case .compressionError: "COMPRESSION_ERROR"
    case .connectError: "CONNECT_ERROR"
    case .enhanceYourCalm: "ENHANCE_YOUR_CALM"
    case .inadequateSecurity: "INADEQUATE_SECURITY"
    case .http11Required: "HTTP_1_1_REQUIRED"
    }
  }

  init?(name: String) {
    guard let code = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = code
  }
}
