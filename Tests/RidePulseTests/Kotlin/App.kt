// What the samples of docs/android.md use of an app; KotlinPageTests appends the samples, and compiles them.

package com.example.rides

import android.app.Application
import android.app.Notification
import android.app.PendingIntent
import android.content.Context
import android.content.Intent
import android.net.Uri
import android.util.Log
import androidx.core.app.NotificationChannelCompat
import androidx.core.app.NotificationManagerCompat
import org.json.JSONObject

class R {
  object drawable {
    const val ic_ride = 1
    const val ic_car = 2
    const val ic_call = 3
    const val ic_yes = 4
    const val ic_no = 5
  }

  object raw {
    const val offer = 6
  }
}

object Sessions {
  fun token(person: String): String? = person
}

object Rides {
  fun reload() {}
}

object Buttons {
  fun call(context: Context): PendingIntent = PendingIntent.getActivity(context, 0, Intent(), 0)

  fun accept(context: Context, message: RideMessage): PendingIntent =
    PendingIntent.getActivity(context, 0, Intent().setAction(message.ride ?: ""), 0)

  fun decline(context: Context, message: RideMessage): PendingIntent =
    PendingIntent.getBroadcast(context, 0, Intent().setAction(message.ride ?: ""), 0)
}

