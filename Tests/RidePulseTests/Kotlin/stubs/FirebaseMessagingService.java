package com.google.firebase.messaging;

import android.content.Context;

public abstract class FirebaseMessagingService extends Context {
  public void onNewToken(String token) {}

  public void onRegistered(String installationId) {}

  public void onDeletedMessages() {}

  public void onMessageReceived(RemoteMessage message) {}
}
